// Lays an evaluation out for reading, what is worst first.
import { formatTable } from "../../../gateway/src/terminal/table.ts";
import type { EvaluatedSession } from "./evaluate.ts";
import { addTallies, figureOf, MEASURES, type Measure, type MeasureId } from "./measures.ts";
import { type Cell, cellsOf, deficitsOf, largestOf } from "./report.ts";

export interface PrintRequest {
  /** Names the set: "Recorded sessions". */
  title: string;
  sessions: readonly EvaluatedSession[];
  /** In the order of the columns; the first is compared to the controls. */
  engines: readonly string[];
  controls: readonly string[];
  /** Of the intervals. */
  seed: number;
}

const WORST = 3;

/** Pure. */
export function formatReport(request: PrintRequest): string {
  const { title, sessions, engines, controls, seed } = request;
  const cells = cellsOf(sessions, seed);
  const budgets = [...new Set(cells.map(({ promptBudget }) => promptBudget))];
  const count = new Set(sessions.map(({ session }) => session)).size;
  const scale = budgets.map((budget) => `${budget / 1000}k`).join(" / ");
  return [
    `${title} (${count}), at prompt budgets of ${scale} tokens`,
    "",
    ...worstCells(cells, request),
    "",
    mainTable({ cells, sessions, budgets, systems: [...engines, ...controls] }),
    "",
    ...engines.flatMap((engine) => [
      `${engine}: 95 % intervals by session, items, and the worst session`,
      "",
      detailTable(cells, engine, budgets),
      "",
    ]),
    "By kind of session",
    "",
    kindTable(sessions, [...engines, ...controls], budgets),
  ].join("\n");
}

function worstCells(cells: readonly Cell[], { engines, controls }: PrintRequest): string[] {
  const [engine = ""] = engines;
  const worst = deficitsOf(cells, engine, controls).slice(0, WORST);
  if (worst.length === 0) return [`${engine}: nothing to compare.`];
  return [
    `Worst cells of ${engine} beside the better control that keeps to the budget:`,
    ...worst.map(({ measure, promptBudget, engine: own, control, difference }) => {
      const about = measureOf(measure);
      return `  ${signed(difference)}  ${about.title}, ${promptBudget / 1000}k: ${figure(own, about)} (${control.system}: ${figure(control.figure, about)})`;
    }),
  ];
}

function mainTable(given: {
  cells: readonly Cell[];
  sessions: readonly EvaluatedSession[];
  budgets: readonly number[];
  systems: readonly string[];
}): string {
  const { cells, sessions, budgets, systems } = given;
  const row = (title: string, text: (system: string, promptBudget: number) => string) => [
    title,
    ...systems.map((system) => budgets.map((budget) => text(system, budget)).join(" / ")),
  ];
  const largest = largestOf(sessions);
  const rows = MEASURES.flatMap((measure) => {
    const find = (system: string, budget: number) => cellOf(cells, measure.id, system, budget);
    const main = row(measure.title, (system, budget) =>
      figure(find(system, budget)?.figure ?? null, measure),
    );
    if (measure.id === "cost")
      return [
        main,
        row("… of the worst session", (system, budget) =>
          figure(find(system, budget)?.worst?.figure ?? null, measure),
        ),
      ];
    if (measure.id === "over")
      return [
        main,
        row("… largest request / budget", (system, budget) => {
          const found = largest.find((one) => one.system === system && one.promptBudget === budget);
          return found === undefined ? "–" : found.share.toFixed(2);
        }),
      ];
    return [main];
  });
  return formatTable(["measure", ...systems], rows);
}

function detailTable(cells: readonly Cell[], engine: string, budgets: readonly number[]): string {
  const rows = MEASURES.filter((measure) => !("isTime" in measure)).flatMap((measure) =>
    budgets.map((budget) => {
      const cell = cellOf(cells, measure.id, engine, budget);
      const [low, high] = cell?.interval ?? [null, null];
      const { worst = null } = cell ?? {};
      return [
        measure.title,
        `${budget / 1000}k`,
        figure(cell?.figure ?? null, measure),
        low === null ? "–" : `${figure(low, measure)} … ${figure(high, measure)}`,
        Math.round(cell?.items ?? 0).toLocaleString("en-US"),
        worst === null ? "–" : `${worst.session} ${figure(worst.figure, measure)}`,
      ];
    }),
  );
  return formatTable(["measure", "budget", "figure", "interval", "of", "worst session"], rows);
}

const BY_KIND: readonly MeasureId[] = ["names", "oldNames", "grounded", "constraints", "cost"];

/** The kind of a session is the first word of its name. */
function kindTable(
  sessions: readonly EvaluatedSession[],
  systems: readonly string[],
  budgets: readonly number[],
): string {
  const kinds = [...new Set(sessions.map(({ session }) => kindOf(session)))];
  const rows = kinds.flatMap((kind) =>
    BY_KIND.map((id) => {
      const measure = measureOf(id);
      const text = (system: string, budget: number) => {
        const own = sessions.filter(
          (one) =>
            one.system === system && one.promptBudget === budget && kindOf(one.session) === kind,
        );
        return figure(
          figureOf(addTallies(own.map(({ tally }) => tally)), measure) ?? null,
          measure,
        );
      };
      return [
        kind,
        measure.title,
        ...systems.map((system) => budgets.map((budget) => text(system, budget)).join(" / ")),
      ];
    }),
  );
  return formatTable(["kind", "measure", ...systems], rows);
}

const kindOf = (session: string) => /^[^-.]*/.exec(session)?.[0] ?? session;

const measureOf = (id: MeasureId): Measure => MEASURES.find((measure) => measure.id === id)!;

const cellOf = (cells: readonly Cell[], measure: MeasureId, system: string, budget: number) =>
  cells.find(
    (cell) => cell.measure === measure && cell.system === system && cell.promptBudget === budget,
  );

function figure(value: number | null, { as }: Measure): string {
  if (value === null) return "–";
  if (as === "count") return String(Math.round(value));
  return value.toFixed(as === "ratio" ? 3 : 1);
}

const signed = (value: number) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)}`;
