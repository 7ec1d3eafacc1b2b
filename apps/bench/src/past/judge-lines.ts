// Judges what lines of the past name, and what they say of each day.
import type { Task } from "./days.ts";

/** What the lines of a record name. */
export interface LinesJudged {
  lines: number;
  /** Messages before the first that is shown, which no line or more than one names. */
  notNamedOnce: number;
  /** Of the deepest summary. */
  depth: number;
}

const LINE = /^- (?:sum_\d+ )?#(\d+)(?:-#(\d+))? /;

/** Pure: the lines in a text. */
export const pastLines = (text: string): string[] =>
  text.split("\n").filter((line) => LINE.test(line));

/** Pure: messages up to the last that a line names, of which not exactly one line names each. */
export function notNamedOnce(lines: readonly string[], messages: number): number {
  const named = new Array<number>(messages).fill(0);
  let last = 0;
  for (const line of lines) {
    const [, from, to = from] = LINE.exec(line)!;
    for (let seq = Number(from); seq <= Number(to); seq++)
      named[seq - 1] = (named[seq - 1] ?? 0) + 1;
    last = Math.max(last, Number(to));
  }
  return named.slice(0, last).filter((times) => times !== 1).length;
}

/** Pure: the last message that the lines name. */
export const lastNamed = (lines: readonly string[]): number =>
  Math.max(0, ...lines.map((line) => Number(LINE.exec(line)![2] ?? LINE.exec(line)![1])));

/** Pure: what the lines say of a day: of a line of several days what stands behind its date. */
export function saidOfDay(lines: readonly string[], day: string): string {
  return lines
    .flatMap((line) => {
      const parts = line.split(" | ");
      const head = line.slice(0, line.indexOf(": "));
      const dated = parts.map((part, at) => (at === 0 ? part.slice(head.length + 2) : part));
      const datedParts = dated.filter((part) => /^\d{4}-\d\d-\d\d /.test(part));
      if (datedParts.length === 0) return head.includes(day) ? [line] : [];
      return datedParts.filter((part) => {
        const [, from, to = from] = /^(\S+)(?: to (\d{4}-\d\d-\d\d))? /.exec(part)!;
        return from! <= day && day <= to!;
      });
    })
    .join("\n");
}

/** Pure: whether a text names a task, by its thing or its file. */
export const names = (text: string, { thing, file }: Task): boolean =>
  text.includes(thing) || text.includes(file) || text.includes(file.split("/").slice(-2).join("/"));
