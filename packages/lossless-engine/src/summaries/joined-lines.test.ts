import { estimateText } from "@clew/plugin-sdk/tokens";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DayFacts } from "../store/summary-rows.ts";
import { joinedLinesOf } from "./joined-lines.ts";
import { linesOf, type Stretch } from "./lines.ts";

const DAY = 86_400_000;
const dateOf = (day: number) => new Date(day * DAY).toISOString().slice(0, 10);

/** What was asked on a day, of each task one request and one file. */
function dayOf(number: number, tasks: number): DayFacts {
  const date = dateOf(number);
  const each = Array.from({ length: tasks }, (_, at) => `${number}x${at}`);
  return {
    ...{ from: date, to: date, messages: 9, requests: tasks, answered: [] },
    asked: each.map((task) => ({ seq: 1, text: `Please look at lamp ${task}, it is dark again.` })),
    files: each.map((task) => [`src/lamp${task}.ts`, 2] as const),
  };
}

/** Stretches that follow one another, each of so many days; the next begins on the day behind. */
function pastOf(days: readonly number[], tasks: number): Stretch[] {
  let number = 20_000;
  return days.map((count, at) => {
    const [first, since] = [at * 10 + 1, number * DAY];
    const told = Array.from({ length: count }, () => dayOf(number++, tasks));
    const facts = { messages: 10, tokens: 90, since, until: number * DAY - 1, days: told };
    return { id: at + 1, first, last: first + 9, facts, words: null };
  });
}

const LINE = /^- (?:sum_\d+ )?#(\d+)-#(\d+)/;
const spansIn = (text: string) =>
  text.split("\n").map((line) => LINE.exec(line)!.slice(1).map(Number) as [number, number]);

const past = fc
  .tuple(
    fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 24 }),
    fc.integer({ min: 0, max: 5 }),
  )
  .map(([days, tasks]) => pastOf(days, tasks));

describe("stretches that share lines", () => {
  it("are all named, each once and in order, within their room where any line can be", () => {
    fc.assert(
      fc.property(past, fc.nat({ max: 5_000 }), (stretches, room) => {
        const text = joinedLinesOf(stretches, room);
        const spans = spansIn(text);
        expect(spans[0]![0]).toBe(1);
        for (const [at, [first]] of spans.slice(1).entries()) expect(first).toBe(spans[at]![1] + 1);
        expect(spans.at(-1)![1]).toBe(stretches.at(-1)!.last);
        expect(estimateText(text).estimate <= room || spans.length === 1).toBe(true);
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });

  it("tell no day less where there is room for a line each", () => {
    fc.assert(
      fc.property(past, (stretches) => {
        const room = 1e6;
        expect(joinedLinesOf(stretches, room)).toBe(linesOf(stretches, room));
      }),
    );
  });

  it("tell every task of thirty days where lines of their own tell of a third", () => {
    const stretches = pastOf([8, 6, 4, 4, 2, 1, 1, 1, 1, 1, 1], 3);
    const tasks = stretches.flatMap(({ facts }) =>
      facts.days.flatMap(({ files }) => files.map(([path]) => path)),
    );
    const told = (text: string) => tasks.filter((path) => text.includes(path)).length;
    const room = 1_400;
    expect(tasks).toHaveLength(90);
    expect(told(linesOf(stretches, room))).toBe(30);
    const text = joinedLinesOf(stretches, room);
    expect(told(text)).toBe(90);
    for (const { facts } of stretches)
      for (const { from } of facts.days) expect(text).toContain(from!);
  });

  it("tell days two or more at once where each alone has too little room", () => {
    const stretches = pastOf(
      Array.from({ length: 12 }, () => 4),
      2,
    );
    const text = joinedLinesOf(stretches, 900);
    expect(spansIn(text)).toEqual([[1, 120]]);
    expect(text).toContain(`${dateOf(20_000)} to `);
    expect(estimateText(text).estimate).toBeLessThanOrEqual(900);
  });

  it("tell something of each of forty days within an eighth of 8,000 tokens", () => {
    const shapes = [Array.from({ length: 40 }, () => 1), [10, 8, 6, 4, 3, 2, 2, 1, 1, 1, 1, 1]];
    for (const shape of shapes)
      for (const tasks of [1, 3, 5])
        for (const room of [1_000, 2_000, 3_700]) {
          const stretches = pastOf(shape, tasks);
          const text = joinedLinesOf(stretches, room);
          const days = stretches.flatMap(({ facts }) => facts.days);
          expect(days).toHaveLength(40);
          for (const { files } of days)
            expect(files.some(([path]) => text.includes(path))).toBe(true);
        }
  });
});
