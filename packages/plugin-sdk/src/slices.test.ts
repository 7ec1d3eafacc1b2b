import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSlices, inSlices, pause, stepsAtOnce, stepsInSlices } from "./slices.ts";

/** A clock that goes on by one with every look at it. */
const countingClock = () => {
  let time = 0;
  return () => time++;
};

describe("slices", () => {
  it("does the work of every item, in order, whatever a piece may take", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer()),
        fc.integer({ min: 0, max: 9 }),
        async (items, ms) => {
          const done: number[] = [];
          await inSlices(items, (item) => done.push(item), { sliceMs: ms, now: countingClock() });
          expect(done).toEqual(items);
        },
      ),
    );
  });

  it("lets others have a turn after every piece", async () => {
    const told: string[] = [];
    let turns = 0;
    const other = () => {
      told.push("other");
      if (++turns < 3) setImmediate(other);
    };
    setImmediate(other);
    const options = { sliceMs: 2, now: countingClock() };
    await inSlices(["a", "b", "c", "d", "e"], (item) => told.push(item), options);
    expect(told.indexOf("other")).toBeLessThan(told.indexOf("e"));
    expect(told.indexOf("other")).toBeGreaterThanOrEqual(0);
  });

  it("runs one piece of one work between two turns of others", async () => {
    const pieces: number[] = [];
    let inThisTurn = 0;
    let isRunning = true;
    const watch = () => {
      pieces.push(inThisTurn);
      inThisTurn = 0;
      if (isRunning) setImmediate(watch);
    };
    setImmediate(watch);
    const work = async () => {
      const slices = createSlices();
      for (let piece = 0; piece < 20; piece++) {
        await slices.next();
        inThisTurn++;
      }
    };
    await Promise.all([work(), work(), work()]);
    isRunning = false;
    expect(Math.max(...pieces)).toBe(1);
  });

  it("count what was done before them without a pause as their own", async () => {
    const told: string[] = [];
    setImmediate(() => told.push("other"));
    // Five short works, none of which has had its time when it ends.
    for (let work = 0; work < 5; work++) {
      const until = performance.now() + 3;
      await pause();
      while (performance.now() < until);
      told.push(`work ${work}`);
    }
    expect(told).toContain("other");
    expect(told.at(-1)).toBe("work 4");
  });

  it("of steps come to the same as all steps at once, and reject with what they throw", async () => {
    const options = { sliceMs: 1, now: countingClock() };
    function* sum(values: readonly number[]) {
      let total = 0;
      for (const value of values) {
        yield;
        if (value === 13) throw new Error("bad luck");
        total += value;
      }
      return total;
    }
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(12)), async (values) => {
        expect(await stepsInSlices(sum(values), options)).toBe(stepsAtOnce(sum(values)));
      }),
    );
    await expect(stepsInSlices(sum([1, 13]), options)).rejects.toThrow("bad luck");
    await expect(
      stepsInSlices(sum([1, 2]), { ...options, signal: AbortSignal.abort(new Error("enough")) }),
    ).rejects.toThrow("enough");
  });

  it("ends between two pieces when it is aborted", async () => {
    const aborted = AbortSignal.abort(new Error("enough"));
    const { signal } = new AbortController();
    const done: number[] = [];
    const work = (item: number) => void done.push(item);
    await expect(
      inSlices([1, 2], work, { sliceMs: 0, signal: aborted, now: countingClock() }),
    ).rejects.toThrow("enough");
    expect(done).toEqual([]);
    await inSlices([1, 2], work, { sliceMs: 0, signal });
    expect(done).toEqual([1, 2]);
  });
});
