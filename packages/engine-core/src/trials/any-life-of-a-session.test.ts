// Random lives of a session, after each step of which every law of delivery must hold.
import fc from "fast-check";
import { describe, it } from "vitest";
import { commands, openWorld, setups } from "./__fixtures__/commands.ts";

const ENGINES = ["reads", "given", "durable"];

describe("whatever happens to a session", () => {
  it("each engine is told everything once, in order, and the report says what happened", async () => {
    await fc.assert(
      fc.asyncProperty(setups, commands(ENGINES), async (setup, life) => {
        await fc.asyncModelRun(() => ({ model: {}, real: openWorld(setup) }), life);
      }),
    );
  });
});
