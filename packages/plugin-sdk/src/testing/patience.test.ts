import { describe, expect, it } from "vitest";
import { idleAfter, isHopeless, MOST_BOUNDS, patiently } from "./patience.ts";

describe("a wait", () => {
  it("ends when its process did nothing for long, or worked for a whole bound, and in any case some time", () => {
    const isOver = (inAll: number, idle: number, bounds = 1) =>
      isHopeless({ inAll, idle, bounds }, 20_000);
    expect(isOver(0, 3)).toBe(true);
    expect(isOver(0, 2)).toBe(false);
    expect(isOver(21_000, 0)).toBe(true);
    expect(isOver(900, 0)).toBe(false);
    expect(isOver(900, 0, MOST_BOUNDS)).toBe(true);
    expect([idleAfter(1, 150, 20_000), idleAfter(2, 250, 20_000)]).toEqual([2, 0]);
  });

  it("gives what the work gives, and else what it is told to", async () => {
    expect(
      await patiently(
        1_000,
        () => "late",
        async () => "in time",
      ),
    ).toBe("in time");
    expect(
      await patiently(
        5,
        () => "late",
        () => new Promise<string>(() => {}),
      ),
    ).toBe("late");
    const wrong = async () => {
      throw new Error("wrong");
    };
    await expect(patiently(1_000, () => "late", wrong)).rejects.toThrow("wrong");
  });
});
