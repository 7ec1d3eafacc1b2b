// Both lines of lossless-claw, by their stand-ins, through eighty turns in windows of three sizes.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { emulatedModel } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { bodyOf } from "../testing/memory.ts";
import { startPluginGateway, TIDEPOOL } from "../testing/plugins.ts";

const TURNS = 80;
/** About 1,200 tokens, as the replies were with which the real ones were tried. */
const REPLY = "The harbour log names wind, tide and boats, and who paid for which berth. ".repeat(
  70,
);

/** The stand-in of each line, with the tail of 64 messages that both have unless they are told. */
const LINES = {
  "0.15": { folder: TIDEPOOL, plugin: "tidepool-context", engine: "tidepool" },
  "1.0": {
    folder: join(import.meta.dirname, "__fixtures__/stand-ins/lossless-claw-1"),
    plugin: "strata",
    engine: "strata",
  },
} as const;

async function talk(line: keyof typeof LINES, contextWindow: number) {
  const { folder, plugin, engine } = LINES[line];
  const home = await temporaryHome();
  mkdirSync(home, { recursive: true });
  // Engines sum up behind the replies, at any time.
  const isTurn = (request: { body: unknown }) =>
    !JSON.stringify(bodyOf(request).messages.at(-1)!.content).includes("Summarise");
  const server = await createOpenAIEmulator({
    answers: (request) => ({ text: isTurn(request) ? REPLY : "The log, in short." }),
  });
  onTestFinished(() => server.close());
  const databasePath = join(home, "kept.db");
  const plugins = {
    load: { paths: [folder] },
    slots: { contextEngine: engine },
    entries: { [plugin]: { config: { freshTailCount: 64, databasePath } } },
  };
  const config = { ...emulatedModel(server.baseUrl, { contextWindow }), plugins };
  const { say, stop } = await startPluginGateway(config, home);
  const lost: string[] = [];
  let summaries = 0;
  for (let turn = 1; turn <= TURNS; turn++) {
    const { outcome, error, report } = await say(`Note ${turn}: what of berth ${turn}?`);
    const { ran, degraded } = report.engine;
    if (outcome !== "completed" || degraded !== null)
      lost.push(`turn ${turn}: ${error?.message ?? degraded?.reason}`);
    expect(ran).toBe(engine);
    const { messages } = bodyOf(server.requests.findLast(isTurn)!);
    summaries = messages.filter(({ content }) =>
      JSON.stringify(content).includes("<summary"),
    ).length;
  }
  await stop();
  const db = new DatabaseSync(databasePath, { readOnly: true });
  const { kept } = db.prepare("SELECT COUNT(*) AS kept FROM messages").get() as { kept: number };
  db.close();
  return { lost, kept, isSummarised: summaries > 0 };
}

describe.each(["0.15", "1.0"] as const)("lossless-claw %s", (line) => {
  it.each([32_000, 64_000, 128_000])(
    "loses no turn of eighty in a window of %d, and keeps every message",
    async (window) => {
      // What fits whole needs no summary.
      const isSummarised = window < 128_000 ? true : expect.any(Boolean);
      expect(await talk(line, window)).toEqual({ lost: [], kept: 2 * TURNS, isSummarised });
    },
  );
});
