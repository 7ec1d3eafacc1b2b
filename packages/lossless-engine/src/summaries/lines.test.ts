import { estimateText } from "@clew/plugin-sdk/tokens";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DayFacts } from "../store/summary-rows.ts";
import { FULL_DETAIL, lineOf, linesOf, type Stretch } from "./lines.ts";

const quote = fc.record({ seq: fc.nat(), text: fc.string({ unit: "grapheme", maxLength: 160 }) });
const day = fc
  .record({
    day: fc.integer({ min: 1, max: 28 }),
    asked: fc.array(quote, { maxLength: 5 }),
    files: fc.array(fc.tuple(fc.webPath(), fc.nat({ max: 9 })), { maxLength: 8 }),
    answered: fc.array(quote, { maxLength: 2 }),
  })
  .map(({ day: number, ...rest }): DayFacts => {
    const date = `2026-01-${String(number).padStart(2, "0")}`;
    return { from: date, to: date, messages: 9, requests: rest.asked.length + 1, ...rest };
  });
const stretch = fc
  .record({
    id: fc.option(fc.nat()),
    first: fc.nat(),
    messages: fc.nat({ max: 999 }),
    days: fc.array(day, { maxLength: 4 }),
    words: fc.option(fc.string({ maxLength: 400 })),
  })
  .map(
    ({ messages, days, ...rest }): Stretch => ({
      ...{ ...rest, last: rest.first + messages },
      facts: { messages, tokens: 1, since: 0, until: 9, days },
    }),
  );

describe("lines of the past", () => {
  it("name each stretch once, in order, within their room where any line can be", () => {
    fc.assert(
      fc.property(
        fc.array(stretch, { minLength: 1, maxLength: 30 }),
        fc.nat({ max: 4_000 }),
        (all, room) => {
          const text = linesOf(all, room);
          const starts = [...text.matchAll(/^- (?:sum_\d+ )?#(\d+)/gm)].map(([, at]) => Number(at));
          const size = Math.ceil(all.length / starts.length);
          const groups = all.filter((_, at) => at % size === 0);
          const isAlone = starts.length === all.length;
          if (isAlone) expect(starts).toEqual(groups.map(({ first }) => first));
          else expect(text.split("\n").every((line) => !line.includes("asked"))).toBe(true);
          const { estimate } = estimateText(text);
          expect(estimate <= room || starts.length === 1).toBe(true);
        },
      ),
    );
  });

  it("quote word for word, and nothing quoted ends its quotation", () => {
    const asked = [{ seq: 1, text: 'Say "done"; answered "yes"' }];
    const facts = { from: "2026-01-02", to: "2026-01-02", messages: 2, requests: 3 };
    const line = lineOf(
      {
        ...{ id: 7, first: 1, last: 2, words: null },
        facts: {
          ...{ messages: 2, tokens: 9, since: Date.UTC(2026, 0, 2, 9, 5), until: null },
          days: [{ ...facts, asked, files: [["src/a.ts", 2]], answered: [] }],
        },
      },
      FULL_DETAIL,
    );
    expect(line).toBe(
      `sum_7 #1-#2 2026-01-02 09:05: asked "Say 'done'; answered 'yes'" (+2); files src/a.ts`,
    );
  });
});
