// Compares what plugins came to with what is expected of them.

/** What one plugin came to; a text is the sentence in which it ended. */
export interface Outcome {
  /** Its version; null = it says none. */
  readonly version: string | null;
  readonly installs: true | string;
  /** Absent from here on: it did not come to that. */
  readonly loads?: true | string;
  /** Of how many. */
  readonly turns?: readonly [completed: number, asked: number];
  /** Who answered. */
  readonly engine?: string;
  /** Of its tools, those that a model is offered. */
  readonly tools?: number;
  /** Null = it has none to call. */
  readonly toolAnswers?: boolean | null;
  /** What was said in one session is in a request of another. */
  readonly remembers?: boolean;
  /** Warnings and failures about engine and plugins. */
  readonly complaints?: readonly string[];
  readonly uninstalls?: true | string;
}

/** Why a row has no outcome. */
export interface NotRun {
  readonly notRun: string;
}

export type Table = Readonly<Record<string, Outcome | NotRun>>;

export const isRun = (row: Outcome | NotRun): row is Outcome => !("notRun" in row);

/** Pure. What is worse than it was; a row that is not run now is not, nor one that is new. */
export function worse(expected: Table, now: Table): string[] {
  return Object.entries(expected).flatMap(([name, before]) => {
    const after = now[name];
    if (after === undefined || !isRun(before) || !isRun(after)) return [];
    return columns(before).flatMap(([column, rank]) => {
      const is = columns(after).find(([each]) => each === column)?.[1] ?? -1;
      return is < rank
        ? [`${name}: ${column} was ${said(before, column)}, is ${said(after, column)}`]
        : [];
    });
  });
}

type Column = Exclude<keyof Outcome, "version">;

/** More is better. */
function columns(row: Outcome): [Column, number][] {
  const { installs, loads, turns, tools, toolAnswers, remembers, complaints, uninstalls } = row;
  const ranks: [Column, number | undefined][] = [
    ["installs", rank(installs)],
    ["loads", rank(loads)],
    ["turns", turns && turns[0] / turns[1]],
    ["tools", tools],
    ["toolAnswers", rank(toolAnswers ?? undefined)],
    ["remembers", rank(remembers)],
    ["complaints", complaints && -complaints.length],
    ["uninstalls", rank(uninstalls)],
  ];
  return ranks.flatMap(([column, value]) => (value === undefined ? [] : [[column, value]]));
}

const rank = (value: boolean | string | undefined) =>
  value === undefined ? undefined : value === true ? 1 : 0;

const said = (row: Outcome, column: Column) => JSON.stringify(row[column] ?? "not reached");

/** Pure. */
export function formatRow(name: string, row: Outcome | NotRun): string {
  if (!isRun(row)) return `${name.padEnd(20)} not run: ${row.notRun}`;
  const yes = (value: unknown) => (value === true ? "yes" : value === false ? "NO" : String(value));
  const { version, installs, loads, turns, engine, tools, toolAnswers, remembers } = row;
  const parts = [
    `installs: ${yes(installs)}`,
    ...(loads === undefined ? [] : [`loads: ${yes(loads)}`]),
    ...(turns === undefined ? [] : [`${turns[0]} of ${turns[1]} turns by ${engine}`]),
    ...(tools === undefined ? [] : [`${tools} tools`]),
    ...(toolAnswers === undefined || toolAnswers === null ? [] : [`answers: ${yes(toolAnswers)}`]),
    ...(remembers === undefined ? [] : [`remembers: ${yes(remembers)}`]),
    ...(row.complaints === undefined ? [] : [`doctor: ${row.complaints.join(" | ") || "well"}`]),
    ...(row.uninstalls === undefined ? [] : [`uninstalls: ${yes(row.uninstalls)}`]),
  ];
  return `${name.padEnd(20)} ${version ?? "no version"}: ${parts.join("; ")}`;
}
