// What is said of engines in the manner of real plugins while nothing is wrong with them.
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import type { StatusFacts } from "../../commands/status.ts";
import { clew as runIn } from "../../testing/command.ts";
import { homeWithOwnPort } from "../../testing/home.ts";
import { startServedGateway, TIDEPOOL } from "../../testing/plugins.ts";

const STRATA = join(import.meta.dirname, "../__fixtures__/stand-ins/lossless-claw-1");

/** The shape, its stand-in's folder and ids, and what /compact finds left to do. */
const SHAPES = [
  ["lossless-claw 0.15", TIDEPOOL, "tidepool-context", "tidepool", 0],
  ["lossless-claw 1.0", STRATA, "strata", "strata", 1],
] as const;

async function homeWith(folder: string, plugin: string, engine: string) {
  const home = await homeWithOwnPort();
  mkdirSync(join(home, "plugins"));
  cpSync(folder, join(home, "plugins", plugin), { recursive: true });
  const small = { freshTailCount: 8, leafTokens: 600 };
  const config = {
    agents: { defaults: { contextTokens: 8000 } },
    plugins: { slots: { contextEngine: engine }, entries: { [plugin]: { config: small } } },
  };
  const clew = (...args: string[]) => runIn(home, args);
  await clew("config", "set", "plugins.slots.contextEngine", engine);
  const complaints = async () => {
    const { code, output } = await clew("doctor", "--json");
    const { findings } = JSON.parse(output) as {
      findings: { level: string; subject: string; text: string }[];
    };
    const bad = findings.filter(
      ({ level, subject }) =>
        (level === "failure" || level === "warning") && /^(engine|plugin)/.test(subject),
    );
    return { code, bad: bad.map(({ level, subject, text }) => `${level} ${subject}: ${text}`) };
  };
  return { home, config, complaints };
}

const HEALTHY = { code: 0, bad: [] };
const FILLER = "The harbour log mentions wind, tide and the names of boats. ".repeat(8);

describe("an engine that compacts for itself, in the manner of", () => {
  it.each(SHAPES)(
    "%s, is well for the doctor before, while and after it works, and /status counts what it sends and what it compacted",
    async (_, folder, plugin, engine, count) => {
      const { home, config, complaints } = await homeWith(folder, plugin, engine);
      expect(await complaints()).toEqual(HEALTHY);
      const { say, get, leave } = await startServedGateway(config, home);
      expect(await complaints()).toEqual(HEALTHY);
      expect((await say("/status")).text).toMatch(
        /^Compactions: the engine's own; it knows when the next is due$/m,
      );
      for (let turn = 1; turn <= 40; turn++) await say(`Note ${turn}: boat ${turn}. ${FILLER}`);
      expect(await complaints()).toEqual(HEALTHY);

      await say("/compact");
      await say("And the lamp?");
      const { text, events } = await say("/status");
      const { context, compactions } = events.find(({ type }) => type === "command")!
        .data as StatusFacts;
      expect(text).toMatch(
        /^Compactions: the engine's own; in the last request \d+ messages? of its own for \d+ of the history; the host asked for (?:0|[1-9]\d*) in the last 4\d turns(?:, the last at \S+ \S+ \(\w+\))?; it knows when the next is due$/m,
      );
      expect(compactions.engine).toMatchObject({ count, turns: 41 });
      const history = (await get<{ entries: unknown[] }>("/api/sessions/main")).entries.length;
      expect(compactions.engine!.leftOut).toBeGreaterThan(history / 2);
      expect(context.messageCount).toBeLessThan(history / 2);
      expect(context.tokens).toBeLessThanOrEqual(context.promptBudget);
      expect(await complaints()).toEqual(HEALTHY);
      await leave();
      expect(await complaints()).toEqual(HEALTHY);
    },
  );

  it("lossless-claw 1.0, fails for the doctor once it says that its store is broken", async () => {
    const { home, config, complaints } = await homeWith(STRATA, "strata", "strata");
    const { say, leave } = await startServedGateway(config, home);
    await say("The key hangs behind the barometer.");
    const db = new DatabaseSync(join(home, "strata.db"));
    db.exec("INSERT INTO messages VALUES (99, 0, 'lost', 'user', '{}', 1)");
    db.close();
    const broken = {
      code: 1,
      bad: [
        "failure engine store: doctor: 2 messages, 0 summaries, 1 orphans; keep a copy of the store before you change anything",
      ],
    };
    expect(await complaints()).toEqual(broken);
    await leave();
    expect(await complaints()).toEqual(broken);
  });
});
