import { describe, expect, it } from "vitest";
import { workInSlices } from "./work-in-slices.ts";

describe("work in slices", () => {
  it("is done in order, and leaves the others their turn after five milliseconds", () => {
    let time = 0;
    const waiting: (() => void)[] = [];
    const done: number[] = [];
    const clock = { now: () => time, later: (work: () => void) => void waiting.push(work) };
    const add = workInSlices((item: number) => {
      time += 2;
      done.push(item);
      if (item === 1) add(8);
    }, clock);
    for (let item = 0; item < 8; item++) add(item);
    const slices: number[] = [];
    for (let work = waiting.shift(); work !== undefined; work = waiting.shift()) {
      const before = done.length;
      work();
      slices.push(done.length - before);
    }
    expect(done).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(slices).toEqual([3, 3, 3]);
    add(9);
    waiting.shift()!();
    expect(done.at(-1)).toBe(9);
  });
});
