// Plays nine kinds of clients over HTTP, with faults and restarts of the gateway.
import fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { FAULTS, playHttp } from "../../testing/play-http.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import { HABITS } from "../testing/habits.ts";
import { startReplies } from "../testing/http-world.ts";

/** One case is many requests. */
const FEWER = { numRuns: fc.readConfigureGlobal().numRuns! / 50 };

it("agents of all kinds, with faults and restarts, are each stored once and in one session", async () => {
  const upstream = await startReplies();
  onTestFinished(upstream.close);
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (dice) => {
      const home = await temporaryHome();
      const start = () => startTestDoor(upstream, { home });
      const wrong = await playHttp({
        ...{ dice, habits: HABITS, steps: 60, upstream, start },
        ...{ faults: FAULTS, restartsEvery: 25 },
      });
      expect(wrong).toEqual([]);
    }),
    FEWER,
  );
}, 240_000);
