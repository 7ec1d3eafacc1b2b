import { describe, expect, it } from "vitest";
import type { EvaluatedSession } from "./evaluate.ts";
import { intervalOf } from "./intervals.ts";
import { emptyTally, MEASURES, type Measure, type MeasureId } from "./measures.ts";
import { formatReport } from "./print-report.ts";
import { cellsOf, deficitsOf } from "./report.ts";

type Counts = Partial<Record<MeasureId, [part: number, whole: number]>>;

function session(system: string, name: string, counts: Counts): EvaluatedSession {
  const tally = emptyTally();
  for (const [id, [part, whole]] of Object.entries(counts))
    tally[id as MeasureId] = { part, whole };
  return { system, promptBudget: 32_000, session: name, tally, largest: 0.9 };
}

const SESSIONS = [
  session("own", "coding-a", {
    names: [90, 100],
    cost: [30, 100],
    over: [0, 10],
    oldNames: [9, 10],
  }),
  session("own", "coding-b", {
    names: [50, 100],
    cost: [90, 100],
    over: [2, 10],
    oldNames: [9, 10],
  }),
  session("good", "coding-a", { names: [99, 100], cost: [50, 100], over: [0, 10] }),
  session("good", "coding-b", { names: [81, 100], cost: [50, 100], over: [0, 10] }),
  session("greedy", "coding-a", { names: [100, 100], cost: [1, 100], over: [10, 10] }),
];

const measure = (id: MeasureId): Measure => MEASURES.find((one) => one.id === id)!;

describe("a report", () => {
  it("sums parts over sessions, and names the session that did worst", () => {
    const cells = cellsOf(SESSIONS, 1);
    const find = (id: MeasureId) =>
      cells.find((cell) => cell.measure === id && cell.system === "own");
    expect(find("names")).toMatchObject({
      figure: 70,
      items: 200,
      worst: { session: "coding-b", figure: 50 },
    });
    expect(find("cost")).toMatchObject({
      figure: 0.6,
      worst: { session: "coding-b", figure: 0.9 },
    });
    expect(find("over")).toMatchObject({ figure: 2, worst: { session: "coding-b", figure: 2 } });
  });

  it("says nothing about old names when there are fewer than a hundred", () => {
    const cell = cellsOf(SESSIONS, 1).find((one) => one.measure === "oldNames");
    expect(cell).toMatchObject({ figure: null, items: 20 });
  });

  it("lists first where an engine is worst beside the better control that keeps to the budget", () => {
    const worst = deficitsOf(cellsOf(SESSIONS, 1), "own", ["good", "greedy"]);
    expect(
      worst.slice(0, 3).map(({ measure: id, difference }) => [id, Math.round(difference)]),
    ).toEqual([
      ["names", -20],
      ["over", -10],
      ["cost", -10],
    ]);
  });

  it("prints every measure, with a dash for what cannot be judged", () => {
    const text = formatReport({
      title: "Sessions",
      sessions: SESSIONS,
      engines: ["own"],
      controls: ["good"],
      seed: 1,
    });
    for (const { title } of MEASURES) expect(text).toContain(title);
    expect(text).toMatch(/−20\.0 {2}names in view %, 32k: 70\.0 \(good: 90\.0\)/);
    expect(text).toMatch(/old names in view % +– +–/);
  });
});

describe("an interval", () => {
  const tallies = [10, 20, 90, 40].map((part) => session("own", "x", { names: [part, 100] }).tally);

  it("holds the figure and is the same for the same seed", () => {
    const [low, high] = intervalOf(tallies, measure("names"), 7)!;
    expect(low).toBeLessThan(40);
    expect(high).toBeGreaterThan(40);
    expect(intervalOf(tallies, measure("names"), 7)).toEqual([low, high]);
  });

  it("is a point when all sessions are alike, and none for two", () => {
    const alike = [tallies[0]!, tallies[0]!, tallies[0]!];
    expect(intervalOf(alike, measure("names"), 7)).toEqual([10, 10]);
    expect(intervalOf(alike.slice(1), measure("names"), 7)).toBeUndefined();
  });
});
