// Kills gateways of one database that answer with the lossless engine, one after the other.
import { once } from "node:events";
import { setTimeout as after } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { keptByLossless } from "../../testing/kept-by-lossless.ts";
import {
  isSaid,
  type Place,
  startAgain,
  startPlace,
  stopPlace,
} from "../../testing/killed-gateways.ts";

/** More of them by CLEW_KILLS=200. */
const KILLS = Math.ceil(Number(process.env.CLEW_KILLS ?? 20) / 10);
const LONGEST_TURN_MS = 400;
const CONFIG = {
  agents: { defaults: { contextTokens: 16_000 } },
  plugins: {
    slots: { contextEngine: "lossless" },
    entries: { lossless: { config: { summaries: "model" } } },
  },
};

/** Those of the first that the second lacks, or has otherwise. */
const lacking = (one: readonly object[], other: readonly object[]) => {
  const known = new Set(other.map((row) => JSON.stringify(row)));
  return one.filter((row) => !known.has(JSON.stringify(row)));
};

describe.skipIf(whyNoPostgres() !== null)(
  `the lossless engine at several homes ${UNLESS_THERE}`,
  () => {
    it("has the same numbers, records and summaries wherever a session goes on, killed at any moment", {
      timeout: 120_000 + KILLS * 30_000,
    }, async () => {
      const plan = { databaseUrl: await testDatabase(), deadAfterSeconds: 4, config: CONFIG };
      const places = [await startPlace(plan), await startPlace(plan)] as const;
      let told = 0;
      const tell = ({ port }: Place) => {
        told++;
        const lines = `Line ${told} of a long report.\n`.repeat(120);
        return isSaid(port, "main", `note ${told}`, `Note ${told} about the harbour. ${lines}`);
      };
      const say = async (place: Place) => {
        for (let attempt = 0; !(await tell(place)); attempt++) {
          if (attempt > 600) throw new Error("nobody answers");
          await after(100);
        }
      };
      try {
        let stored = 0;
        for (let kill = 0; kill < KILLS; kill++) {
          const [at, next] = [places[kill % 2]!, places[(kill + 1) % 2]!];
          for (let turn = 0; turn < 12; turn++) await say(at);
          const shared = keptByLossless(at.home);
          expect(shared.cuts.length).toBeGreaterThan(0);
          expect(shared.summaries.length).toBeGreaterThan(stored);
          stored = shared.summaries.length;
          const last = tell(at);
          await after(Math.random() * LONGEST_TURN_MS);
          at.child.kill("SIGKILL");
          await once(at.child, "exit");
          const before = keptByLossless(at.home);
          await say(next);
          const now = keptByLossless(next.home);
          at.child = await startAgain(plan, at);
          await last;
          // What was there when the last turn but one was over.
          expect(lacking(shared.messages, now.messages)).toEqual([]);
          expect(lacking(shared.cuts, now.cuts)).toEqual([]);
          const withoutParents = (rows: readonly object[]) =>
            rows.map((row) => ({ ...row, parent: undefined, asked: undefined }));
          expect(lacking(withoutParents(shared.summaries), withoutParents(now.summaries))).toEqual(
            [],
          );
          // What was made in the last turn is shared, or was shown to nobody.
          expect(lacking(before.cuts, now.cuts).length).toBeLessThanOrEqual(1);
          expect(new Set(now.messages.map(({ id }) => id)).size).toBe(now.messages.length);
          expect(now.summaries.every(({ asked }) => Number(asked) <= 1)).toBe(true);
        }
      } finally {
        await Promise.all(places.map(stopPlace));
      }
    });
  },
);
