import { describe, expect, it } from "vitest";
import { PulseWatch } from "./pulse.ts";

/** Whether a process is taken for stuck that tells this each second. */
function isStuck(tellings: { pulse: number; usedMs: number }[]): boolean {
  const watch = new PulseWatch(20_000);
  return tellings.some((told, second) => watch.isStuck(told, second * 1_000));
}
const seconds = (count: number, told: (second: number) => { pulse: number; usedMs: number }) =>
  Array.from({ length: count }, (_, second) => told(second));

describe("the pulse of a process", () => {
  it("shows one that works without end, or stands still", () => {
    expect(isStuck(seconds(60, (at) => ({ pulse: 1, usedMs: at * 990 })))).toBe(true);
    expect(isStuck(seconds(80, () => ({ pulse: 1, usedMs: 700 })))).toBe(true);
  });

  it("goes on in one that works, or gets a fiftieth of a busy machine", () => {
    expect(isStuck(seconds(99, (at) => ({ pulse: at, usedMs: at * 990 })))).toBe(false);
    expect(isStuck(seconds(99, (at) => ({ pulse: at >> 6, usedMs: at * 20 })))).toBe(false);
    expect(isStuck(seconds(99, (at) => ({ pulse: at >> 5, usedMs: at * 2 })))).toBe(false);
  });
});
