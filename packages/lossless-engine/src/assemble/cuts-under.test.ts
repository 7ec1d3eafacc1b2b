import { describe, expect, it } from "vitest";
import type { StoredCut } from "../store/cuts.ts";
import { cutsUnder } from "./cuts-under.ts";

const cut = (id: number, ceiling: number, first = "m1"): StoredCut => ({
  ...{ id, name: `cut${id}`, first, request: null, ceiling },
  ...{ tokens: { estimate: 1, high: 1 }, time: null, covered: 1, parts: new Map() },
});
/** `cuts`: oldest first. */
const idUnder = (highMark: number | undefined, ...cuts: StoredCut[]) =>
  cutsUnder(cuts.toReversed(), highMark).get("m1")?.id;

describe("of two cuts at one place", () => {
  it("each counts under its own budget, whichever was made last", () => {
    for (const cuts of [
      [cut(1, 900), cut(2, 1_800)],
      [cut(1, 1_800), cut(2, 900)],
    ])
      for (const [mark, ceiling] of [
        [600, 900],
        [1_200, 1_800],
      ] as const)
        expect(cuts.find(({ id }) => id === idUnder(mark, ...cuts))?.ceiling).toBe(ceiling);
  });

  it("the one that was asked for counts where no newer one was made in need, and is not undone", () => {
    expect(idUnder(600, cut(1, 900), cut(2, Infinity))).toBe(2);
    expect(idUnder(600, cut(1, Infinity), cut(2, 900))).toBe(2);
    expect(idUnder(Infinity, cut(1, Infinity), cut(2, 900))).toBe(1);
  });

  it("the newer one counts for the same budget or one that is hardly larger, and where none is known", () => {
    for (const ceiling of [800, 900, 1_000])
      expect(idUnder(600, cut(1, 900), cut(2, ceiling))).toBe(2);
    expect(idUnder(undefined, cut(1, Infinity), cut(2, 900))).toBe(2);
  });

  it("the newest has what is known, whichever counts", () => {
    const cuts = [cut(3, 700, "m2"), cut(2, 1_800), cut(1, 900)];
    expect(cutsUnder(cuts, 600).get("m1")).toMatchObject({ id: 1, newestHere: 2 });
    expect(cutsUnder(cuts, 600).get("m2")).not.toHaveProperty("newestHere");
  });
});
