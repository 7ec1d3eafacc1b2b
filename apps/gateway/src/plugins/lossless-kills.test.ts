// Kills gateways that answer with the lossless engine, at random moments.
import { setTimeout as sleep } from "node:timers/promises";
import { messageId } from "@clew/plugin-sdk/core";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { createSessionStore } from "../sessions/store.ts";
import { startChild } from "../testing/child.ts";
import { temporaryHome } from "../testing/home.ts";
import { losslessRows } from "../testing/lossless-rows.ts";
import { startPluginGateway } from "../testing/plugins.ts";

/** More of them by CLEW_KILLS=200. */
const KILLS = Number(process.env.CLEW_KILLS ?? 20);
/** Homes, each of which is killed again and again. */
const HOMES = 4;
const LONGEST_TURN_MS = 60;
const CONFIG = {
  agents: { defaults: { contextTokens: 16_000 } },
  plugins: { slots: { contextEngine: "lossless" } },
};
const CHILD = new URL("../testing/lossless-turns.ts", import.meta.url);

/** Messages of the session, by id, as its file has them. */
async function saidIn(home: string) {
  const session = await createSessionStore({ home }).open({ key: "main", cwd: home });
  const said = session
    .branch()
    .flatMap((entry) => (entry.type === "message" ? [withMessageId(entry.message, entry.id)] : []));
  await session.close();
  return new Map(said.map((message) => [messageId(message)!, message]));
}

async function killOnce(home: string): Promise<void> {
  const child = startChild(CHILD, [home, JSON.stringify(CONFIG)]);
  const turns = Math.floor(Math.random() * 4);
  for (let line = 0; line <= turns; line++) await child.nextLine();
  await sleep(Math.random() * LONGEST_TURN_MS);
  child.process.kill("SIGKILL");
  await child.exit;
}

describe("a gateway that is killed in the middle of turns", () => {
  it(
    "stores no message that was not said, none twice and none by half, and lacks none after the next turn",
    async () => {
      const homes = await Promise.all(Array.from({ length: HOMES }, () => temporaryHome()));
      for (let kill = 0; kill < KILLS; kill += HOMES)
        await Promise.all(
          homes.slice(0, KILLS - kill).map(async (home) => {
            await killOnce(home);
            const said = await saidIn(home);
            const rows = losslessRows(home);
            expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
            for (const { id, message } of rows) expect([id, message]).toEqual([id, said.get(id)]);
          }),
        );
      for (const home of homes) {
        const { say, stop } = await startPluginGateway(CONFIG, home);
        const { outcome, report } = await say("Is everything there?");
        expect([outcome, report.engine.ran, report.engine.degraded]).toEqual([
          "completed",
          "lossless",
          null,
        ]);
        await stop();
        const said = await saidIn(home);
        const rows = losslessRows(home);
        expect(rows.map(({ id }) => id).sort()).toEqual([...said.keys()].sort());
        for (const { id, message } of rows) expect([id, message]).toEqual([id, said.get(id)]);
      }
    },
    30_000 + KILLS * 10_000,
  );
});
