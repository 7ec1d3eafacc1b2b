import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { missingPages, scrollToShow, visibleSpan } from "./virtual.ts";

describe("a virtual list", () => {
  it("draws what is in sight and little more, however long it is and wherever it stands", () => {
    const views = fc.record({
      scrollTop: fc.nat(5_000_000),
      height: fc.integer({ min: 1, max: 3000 }),
      rowHeight: fc.integer({ min: 10, max: 100 }),
      count: fc.nat(100_000),
    });
    fc.assert(
      fc.property(views, (view) => {
        const { first, end } = visibleSpan(view);
        expect(end - first).toBeLessThanOrEqual(view.height / view.rowHeight + 34);
        for (const y of [view.scrollTop, view.scrollTop + view.height - 1]) {
          const row = Math.floor(y / view.rowHeight);
          if (row < view.count) expect(row >= first && row < end).toBe(true);
        }
      }),
    );
  });

  it("scrolls no further than it must to show a row", () => {
    const view = { scrollTop: 100, height: 50, rowHeight: 10, count: 100 };
    expect([scrollToShow(3, view), scrollToShow(12, view), scrollToShow(20, view)]).toEqual([
      30, 100, 160,
    ]);
  });

  it("reads the pages that it shows and has not read", () => {
    expect(missingPages({ first: 95, end: 305 }, 100, (page) => page === 1)).toEqual([0, 2, 3]);
    expect(missingPages({ first: 100, end: 200 }, 100, () => false)).toEqual([1]);
    expect(missingPages({ first: 0, end: 0 }, 100, () => false)).toEqual([]);
  });
});
