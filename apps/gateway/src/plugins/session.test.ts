// A plugin in OpenClaw's style through its whole life, from install to uninstall.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { checkConfigText } from "../config/load.ts";
import { temporaryHome } from "../testing/home.ts";
import { copyTidepool, type PluginGateway, startPluginGateway } from "../testing/plugins.ts";
import { installPlugin } from "./install/install.ts";
import { uninstallPlugin } from "./install/uninstall.ts";

const WINDOW = 8000;
const CONFIG = `{
  // A small window.
  agents: { defaults: { contextTokens: ${WINDOW}, compaction: { keepRecentTokens: 1500 } } },
}
`;

interface Shared {
  [name: symbol]: unknown;
}

/** What a new process would find: the plugin's process-wide engine gone, its database there. */
function forgetProcess(): void {
  (globalThis as Shared)[Symbol.for("tidepool.shared")] = undefined;
}

const events = () => ((globalThis as Shared)[Symbol.for("tidepool.events")] ?? []) as string[];

function start(home: string, config: Record<string, unknown> = {}): Promise<PluginGateway> {
  const file = join(home, "clew.json");
  const { raw } = checkConfigText(readFileSync(file, "utf8"), file);
  const plugins = raw.plugins as { entries: Record<string, object> } | undefined;
  const withConfig = plugins && {
    ...plugins,
    entries: { "tidepool-context": { ...plugins.entries["tidepool-context"], config } },
  };
  return startPluginGateway({ ...raw, ...(withConfig && { plugins: withConfig }) }, home);
}

function readStore(home: string) {
  const db = new DatabaseSync(join(home, "tidepool.db"), { readOnly: true });
  const all = (sql: string) => db.prepare(sql).all() as Record<string, number & string>[];
  const stored = {
    messages: all("SELECT * FROM messages ORDER BY seq"),
    summaries: all("SELECT * FROM summaries ORDER BY upto_seq"),
    turns: all("SELECT * FROM turns"),
  };
  db.close();
  return stored;
}

describe("a session of two hundred turns", () => {
  it("with a plugin engine loses nothing, stays inside the window, survives a restart, and goes on without the plugin", async () => {
    const scratch = await temporaryHome();
    const home = join(scratch, "home");
    mkdirSync(home);
    writeFileSync(join(home, "clew.json"), CONFIG);
    copyTidepool(scratch);
    const place = { home, configFile: join(home, "clew.json"), cwd: scratch };
    await installPlugin({ spec: "./tidepool" }, place);

    let compactions = 0;
    const talk = async (running: PluginGateway, from: number, to: number) => {
      for (let turn = from; turn < to; turn++) {
        const filler = "The harbour log mentions wind, tide and the names of boats. ".repeat(8);
        const { outcome, error, report } = await running.say(
          `Note ${turn}: boat ${turn} carries ${turn * 13} crates. ${filler}`,
        );
        expect([turn, outcome, error, report.engine.ran, report.engine.degraded]).toEqual([
          turn,
          "completed",
          null,
          "tidepool",
          null,
        ]);
        expect(report.modelCalls.at(-1)!.messages.tokens).toBeLessThan(WINDOW);
        compactions += report.compactions.filter(({ ok, compacted }) => ok && compacted).length;
      }
    };

    // First without background work: what does not fit is compacted through engine.compact.
    const first = await start(home, { leafTokens: 1_000_000, freshTailCount: 8 });
    await talk(first, 0, 100);
    expect(compactions).toBeGreaterThan(0);
    expect(events()).toContain("before_compaction -1");
    expect(events()).toContain("after_compaction -1");
    await first.stop();
    expect(events().slice(-2)).toEqual([
      "session_end shutdown agent:main:main",
      "gateway_stop shutdown",
    ]);
    const before = readStore(home);
    expect(before.messages).toHaveLength(200);

    // After the restart with background maintenance: its compaction happens behind the replies.
    forgetProcess();
    const second = await start(home, { leafTokens: 800, freshTailCount: 8 });
    await talk(second, 100, 200);
    const { branch } = (await second.gateway.session("main"))!;
    const messages = branch.flatMap((entry) => (entry.type === "message" ? [entry] : []));
    const view = (await second.gateway.context("main"))!;
    await second.stop();

    const { messages: stored, summaries, turns } = readStore(home);
    expect(stored.map(({ entry_id }) => entry_id)).toEqual(messages.map(({ id }) => id));
    expect(stored.map(({ text }) => text)).toEqual(messages.map(({ message }) => textOf(message)));
    expect(stored).toHaveLength(400);
    expect(summaries.length).toBeGreaterThan(before.summaries.length);
    // The transcript held each turn before the engine was told of it.
    expect(turns).toHaveLength(200);
    expect(turns.filter(({ expected, found }) => expected !== found)).toEqual([]);
    expect(JSON.stringify(view)).toContain("<summary id=");

    forgetProcess();
    await uninstallPlugin({ pluginId: "tidepool-context" }, place);
    expect(readFileSync(place.configFile, "utf8")).toBe(CONFIG);
    expect(existsSync(join(home, "plugins"))).toBe(false);
    const third = await start(home);
    const { outcome, report } = await third.say("And now?");
    expect([outcome, report.engine.configured, report.engine.ran, report.engine.degraded]).toEqual([
      "completed",
      null,
      "legacy",
      null,
    ]);
    expect((await third.gateway.session("main"))!.branch.length).toBeGreaterThan(400);
  });
});
