import { describe, expect, it } from "vitest";
import { isHopeless, MOST_BOUNDS, patiently } from "./patience.ts";

describe("a wait", () => {
  it("ends when its process did nothing, or worked for a whole bound, and in any case some time", () => {
    const isOver = (inAll: number, lately: number, bounds = 1) =>
      isHopeless({ inAll, lately, bounds }, 20_000);
    expect(isOver(0, 0)).toBe(true);
    expect(isOver(21_000, 500)).toBe(true);
    expect(isOver(900, 500)).toBe(false);
    expect(isOver(900, 500, MOST_BOUNDS)).toBe(true);
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
