import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planColumns, planPlaces, planSigns, planTop } from "./plot-places.ts";

const pixelOf = (place: number) => 100 + place * 10;
const curve = (...heights: (number | null)[]) => ({ label: "", color: "", heights });

describe("the places of a plot", () => {
  it("are whole for the first call and the newest one, however many there are", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 900 }), (calls) => {
        const [from, to] = planPlaces(0, calls - 1);
        expect(from).toBe(-0.5);
        expect(to).toBeGreaterThanOrEqual(calls - 0.5);
        const width = 1000 / (to - from);
        const at = (place: number) => (place - from) * width;
        const columns = planColumns(Array(calls).fill(1), 0, calls - 1, at);
        expect(columns).toHaveLength(calls);
        columns.forEach(({ left, right }, place) => {
          expect(right).toBeGreaterThan(left);
          // Each stands around the middle that its label and its signs have.
          expect(Math.abs((left + right) / 2 - at(place))).toBeLessThanOrEqual(1);
        });
      }),
    );
  });

  it("are no more than the pixels, and of calls in the same one the highest is seen", () => {
    const heights = Array.from({ length: 50_000 }, (_, place) => (place === 31_007 ? 9 : 1));
    const columns = planColumns(heights, 0, 49_999, (place) => place / 50);
    expect(columns.length).toBeLessThanOrEqual(1001);
    expect(columns.filter(({ height }) => height === 9)).toEqual([
      { left: 620, right: 621, height: 9 },
    ]);
  });

  it("leave out what is not known, and draw neighbours that are half in sight", () => {
    expect(planColumns([1, null, 3, 4], 2, 2, pixelOf)).toEqual([
      { left: 115, right: 125, height: 3 },
      { left: 125, right: 135, height: 4 },
    ]);
  });

  it("leave the room to what was sent when the budget is far above it", () => {
    const near = { plan: { curves: [curve(900, 300)], budget: [1000, 1000] }, over: null };
    expect(planTop(near)).toBeGreaterThan(1000);
    const far = { plan: { curves: [curve(900)], budget: [180_000] }, over: null };
    expect(planTop(far)).toBeGreaterThan(900);
    expect(planTop(far)).toBeLessThan(1800);
    expect(planTop({ ...far, over: { heights: [50_000] } })).toBeGreaterThan(180_000);
    expect(planTop({ plan: { curves: [curve(null)], budget: [null] }, over: null })).toBe(1);
  });

  it("show the sign of a request that was too large, however crowded it is", () => {
    const marks = Array.from({ length: 40 }, (_, place) => [
      { place, mark: "cache-broken" as const },
      ...(place === 21 ? [{ place, mark: "overflow" as const }] : []),
    ]).flat();
    const signs = planSigns(marks, (place) => place * 3, 9);
    expect(signs[0]).toEqual({ x: 63, mark: "overflow" });
    const xs = signs.map(({ x }) => x).sort((a, b) => a - b);
    for (const [index, x] of xs.slice(1).entries())
      expect(x - (xs[index] ?? 0)).toBeGreaterThanOrEqual(9);
  });
});
