// Sums up evaluated sessions by figure, system and budget.
import type { EvaluatedSession } from "./evaluate.ts";
import { intervalOf } from "./intervals.ts";
import { addTallies, figureOf, MEASURES, type Measure, type MeasureId } from "./measures.ts";

/** One figure of one engine or control under one budget. */
export interface Cell {
  measure: MeasureId;
  system: string;
  promptBudget: number;
  /** Null: nothing to judge, or too little. */
  figure: number | null;
  /** What it is the share of: names, bytes, tokens, calls. */
  items: number;
  /** 95 %, by drawing sessions again. Null: too few sessions. */
  interval: readonly [number, number] | null;
  /** The session that did worst. Null: none could be judged. */
  worst: { session: string; figure: number } | null;
}

/** A cell in which the first engine does worse than a control. */
export interface Deficit {
  measure: MeasureId;
  promptBudget: number;
  engine: number;
  control: { system: string; figure: number };
  /** Below zero: the engine is worse. In hundredths: of what was judged, or of a ratio. */
  difference: number;
}

/** Pure. */
export function cellsOf(sessions: readonly EvaluatedSession[], seed: number): Cell[] {
  return groupsOf(sessions).flatMap(({ system, promptBudget, scores }) => {
    const tallies = scores.map(({ tally }) => tally);
    const sum = addTallies(tallies);
    return MEASURES.map(
      (measure): Cell => ({
        measure: measure.id,
        system,
        promptBudget,
        figure: figureOf(sum, measure) ?? null,
        items: sum[measure.id].whole,
        interval: intervalOf(tallies, measure, seed) ?? null,
        worst: worstOf(scores, measure),
      }),
    );
  });
}

/** Largest request of each system under each budget, as a share of it. Pure. */
export function largestOf(sessions: readonly EvaluatedSession[]) {
  return groupsOf(sessions).map(({ system, promptBudget, scores }) => ({
    system,
    promptBudget,
    share: Math.max(...scores.map(({ largest }) => largest)),
  }));
}

function groupsOf(sessions: readonly EvaluatedSession[]) {
  const keys = new Map<string, { system: string; promptBudget: number }>();
  for (const { system, promptBudget } of sessions)
    keys.set(`${promptBudget} ${system}`, { system, promptBudget });
  return [...keys.values()].map((key) => ({
    ...key,
    scores: sessions.filter(
      (one) => one.system === key.system && one.promptBudget === key.promptBudget,
    ),
  }));
}

function worstOf(scores: readonly EvaluatedSession[], measure: Measure): Cell["worst"] {
  const figures = scores.flatMap(({ session, tally }) => {
    const figure = figureOf(tally, measure);
    return figure === undefined ? [] : [{ session, figure }];
  });
  const sign = measure.better === "more" ? 1 : -1;
  return figures.sort((a, b) => sign * (a.figure - b.figure))[0] ?? null;
}

/**
 * Every cell of `engine` beside the better of the controls that kept to the budget, the worst
 * first. Pure.
 */
export function deficitsOf(
  cells: readonly Cell[],
  engine: string,
  controls: readonly string[],
): Deficit[] {
  const find = (measure: string, system: string, promptBudget: number) =>
    cells.find(
      (cell) =>
        cell.measure === measure && cell.system === system && cell.promptBudget === promptBudget,
    );
  const budgets = [...new Set(cells.map(({ promptBudget }) => promptBudget))];
  return MEASURES.flatMap((measure) => {
    if ("isTime" in measure) return [];
    return budgets.flatMap((promptBudget): Deficit[] => {
      const own = find(measure.id, engine, promptBudget);
      const others = controls
        .filter((system) => find("over", system, promptBudget)?.figure === 0)
        .flatMap((system) => {
          const figure = find(measure.id, system, promptBudget)?.figure ?? null;
          return figure === null ? [] : [{ system, figure }];
        });
      const sign = measure.better === "more" ? 1 : -1;
      const [control] = others.sort((a, b) => sign * (b.figure - a.figure));
      if (own === undefined || own.figure === null || control === undefined) return [];
      const hundredths = inHundredths(measure, own.items, control.figure);
      const difference = sign * hundredths * (own.figure - control.figure);
      return [{ measure: measure.id, promptBudget, engine: own.figure, control, difference }];
    });
  }).sort((a, b) => a.difference - b.difference);
}

/** What has a unit of its own is told in hundredths of the control's. */
function inHundredths({ as }: Measure, items: number, control: number): number {
  if (as === "percent") return 1;
  if (as === "each") return control === 0 ? 0 : 100 / Math.abs(control);
  return as === "count" ? 100 / Math.max(1, items) : 100;
}
