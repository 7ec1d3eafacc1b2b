// Random hostile engines: the reply comes, the record is right, the other session goes on.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectation, hostileEngine, hostilities } from "./__fixtures__/hostility.ts";
import { ordeal, ordealFaults, recordedOperations } from "./__fixtures__/ordeal.ts";
import { type StrayListener, watchStrays } from "./__fixtures__/strays.ts";

describe("whatever an engine throws, returns or does, and whenever", () => {
  let strays: StrayListener;
  let running: Promise<unknown> = Promise.resolve();
  beforeAll(() => {
    strays = watchStrays();
  });
  // A run that was interrupted at the time limit goes on; what it leaves is not the next test's.
  afterAll(async () => {
    await running.catch(() => {});
    await strays.settled();
    strays.stop();
  });

  it("the person is answered, the record names the operation, and nobody else notices", async () => {
    await fc.assert(
      fc.asyncProperty(hostilities, async (hostility) => {
        const before = strays.count();
        let afterwards = async () => {};
        const trial = ordeal(
          ({ entryIds }) => {
            const made = hostileEngine(hostility, entryIds);
            afterwards = made.afterwards;
            return made.engine;
          },
          { afterwards: () => afterwards() },
        );
        running = trial;
        const done = await trial;
        const recorded = recordedOperations(done);
        const expected = expectation(hostility);
        const faults = ordealFaults(done);
        if (expected === "failure" && !recorded.includes(hostility.method))
          faults.push(`nothing on record of ${hostility.method}: ${recorded.join() || "nothing"}`);
        if (expected === "health" && recorded.length > 0)
          faults.push(`on record although nothing was wrong: ${recorded.join()}`);
        await strays.settled();
        if (hostility.act.kind !== "strays" && strays.count() > before)
          faults.push("a rejection was left to the process");
        expect(faults.join("\n")).toBe("");
      }),
    );
  });
});
