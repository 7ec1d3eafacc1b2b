// Puts what is known of the past into one line for each stretch, within a number of tokens.
import { estimateText } from "@clew/plugin-sdk/tokens";
import { headOf } from "@clew/plugin-sdk/transcript";
import type { DayFacts, Facts, Quote } from "../store/summary-rows.ts";

/** A stretch of the past. */
export interface Stretch {
  /** Of its summary. Null: it has none yet. */
  readonly id: number | null;
  /** Numbers of its first and its last message. */
  readonly first: number;
  readonly last: number;
  readonly facts: Facts;
  /** What a model says of it. Null: none does. */
  readonly words: string | null;
}

/** How much a line says of each day. */
export interface Detail {
  readonly asked: number;
  readonly files: number;
  readonly answered: number;
  /** Of a quotation, and of a model's words three times as many. */
  readonly chars: number;
  /** True: paths are whole. Absent: long ones without the folders that they begin with. */
  readonly hasFolders?: boolean;
}

/** From most to least; the last one says where a stretch is and how much it is. */
const DETAILS: readonly Detail[] = [
  { asked: 5, files: 8, answered: 2, chars: 160, hasFolders: true },
  { asked: 5, files: 6, answered: 1, chars: 120 },
  { asked: 4, files: 5, answered: 1, chars: 90 },
  { asked: 4, files: 4, answered: 0, chars: 80 },
  { asked: 4, files: 3, answered: 0, chars: 70 },
  { asked: 4, files: 2, answered: 0, chars: 60 },
  { asked: 4, files: 1, answered: 0, chars: 50 },
  { asked: 4, files: 0, answered: 0, chars: 45 },
  { asked: 3, files: 1, answered: 0, chars: 40 },
  { asked: 3, files: 0, answered: 0, chars: 40 },
  { asked: 2, files: 0, answered: 0, chars: 40 },
  { asked: 1, files: 1, answered: 0, chars: 30 },
  { asked: 1, files: 0, answered: 0, chars: 30 },
  { asked: 0, files: 0, answered: 0, chars: 0 },
];

export const FULL_DETAIL: Detail = DETAILS[0]!;
const LEAST_DETAIL = DETAILS.at(-1)!;

/**
 * Pure: one line for each stretch, as much of it as all together have room for in `tokens`, as
 * estimated; where even the shortest lines take more, neighbours share one; at least one line.
 */
export function linesOf(stretches: readonly Stretch[], tokens: number): string {
  const alone = linesWithin(stretches, { tokens, leastFiles: 0 });
  if (alone !== null) return alone;
  for (let together = 2; ; together *= 2) {
    const text = textOf(inGroups(stretches, together), LEAST_DETAIL);
    if (estimateText(text).estimate <= tokens || together >= stretches.length) return text;
  }
}

/** Pure: one line for each; null where less would be said of a day than `leastFiles` files. */
export function linesWithin(
  stretches: readonly Stretch[],
  { tokens, leastFiles }: { tokens: number; leastFiles: number },
): string | null {
  for (const detail of DETAILS.filter(({ files }) => files >= leastFiles)) {
    const text = textOf(stretches, detail);
    if (estimateText(text).estimate <= tokens) return text;
  }
  return null;
}

/** Pure: one line for each day that has something to tell, as much of each as `tokens` hold. */
export function dayLinesOf({ days }: Facts, tokens: number): string[] {
  for (const detail of DETAILS) {
    const lines = days.map((day) => dayText(day, detail, true)).filter((line) => line !== "");
    if (estimateText(lines.join("\n")).estimate <= tokens) return lines;
  }
  return [];
}

/** Pure: one line for each, whatever room they take. */
export const textOf = (stretches: readonly Stretch[], detail: Detail) =>
  stretches.map((stretch) => `- ${lineOf(stretch, detail)}`).join("\n");

function inGroups(stretches: readonly Stretch[], size: number): Stretch[] {
  const count = Math.ceil(stretches.length / size);
  return Array.from({ length: count }, (_, at) => stretches.slice(at * size, (at + 1) * size)).map(
    (group) => {
      const times = group.flatMap(({ facts: { since, until } }) => [since, until]);
      const known = times.filter((time) => time !== null);
      const sum = (of: (stretch: Stretch) => number) =>
        group.reduce((all, stretch) => all + of(stretch), 0);
      return {
        ...{ id: null, words: null, first: group[0]!.first, last: group.at(-1)!.last },
        facts: {
          messages: sum(({ facts }) => facts.messages),
          tokens: sum(({ facts }) => facts.tokens),
          since: known.length === 0 ? null : Math.min(...known),
          until: known.length === 0 ? null : Math.max(...known),
          days: [],
        },
      };
    },
  );
}

/** Pure: where a stretch stands, when it was, and what was asked and done on each of its days. */
export function lineOf(stretch: Stretch, detail: Detail): string {
  const { id, first, last, facts, words } = stretch;
  const days = facts.days.map((day) => dayText(day, detail, facts.days.length > 1));
  const head = [
    ...(id === null ? [] : [summaryName(id)]),
    first === last ? `#${first}` : `#${first}-#${last}`,
    ...(facts.since === null ? [] : [spanText(facts.since, facts.until ?? facts.since)]),
    ...(facts.messages === last - first + 1 ? [] : [`${facts.messages} messages`]),
  ].join(" ");
  const said = words === null ? "" : ` a model notes "${clipped(words, 3 * detail.chars)}"`;
  const told = days.filter((day) => day !== "").join(" | ");
  return `${head}:${detail.chars === 0 ? "" : said}${told === "" ? "" : ` ${told}`}`.replace(
    /:$/,
    "",
  );
}

/** As tools are asked for it. */
export const summaryName = (id: number): string => `sum_${id}`;

/** Pure: what a day holds; its date where it is one of many. */
function dayText(day: DayFacts, detail: Detail, isOneOfMany: boolean): string {
  const { requests, asked, files, answered } = day;
  const shown = asked.slice(0, detail.asked);
  const more = requests - shown.length;
  const parts = [
    ...(shown.length === 0
      ? []
      : [`asked ${quotes(shown, detail)}${more > 0 ? ` (+${more})` : ""}`]),
    ...(detail.files === 0 || files.length === 0
      ? []
      : [
          `files ${files
            .slice(0, detail.files)
            .map(([path]) => pathText(path, detail))
            .join(" ")}`,
        ]),
    ...(detail.answered === 0 || answered.length === 0
      ? []
      : [`answered ${quotes(answered.slice(0, detail.answered), detail)}`]),
  ];
  const when = isOneOfMany && day.from !== null ? `${daysText(day)} ` : "";
  return parts.length === 0 ? "" : `${when}${parts.join("; ")}`;
}

const quotes = (all: readonly Quote[], { chars }: Detail) =>
  all.map(({ text }) => `"${clipped(text, chars)}"`).join(" ");

/** Word for word, but for quotation marks: nothing quoted ends its own quotation. */
export function clipped(text: string, chars: number): string {
  const head = headOf(text, chars).trimEnd();
  return `${head}${head.length < text.length ? "…" : ""}`.replaceAll('"', "'");
}

/** Pure. Of a long one the end, where there is little room: folders are the same all day. */
export function pathText(path: string, detail: Detail): string {
  const ends = path.split(/(?<=[/\\])/);
  const isWhole = detail.hasFolders === true || path.length <= SHORT_PATH;
  return (isWhole ? path : ends.slice(-PARTS_OF_PATH).join("")).replaceAll('"', "'");
}

const SHORT_PATH = 30;
const PARTS_OF_PATH = 2;

export const daysText = ({ from, to }: Pick<DayFacts, "from" | "to">) =>
  from === to ? `${from}` : `${from} to ${to}`;

/** "2026-01-01 09:00-17:30", or with the last day where it is another. */
export function spanText(since: number, until: number): string {
  const [from, to] = [minuteOf(since), minuteOf(until)];
  if (from === to) return from;
  const isOneDay = from.slice(0, 10) === to.slice(0, 10);
  return isOneDay ? `${from}-${to.slice(11)}` : `${from} to ${to}`;
}

function minuteOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime())
    ? "(no time)"
    : date.toISOString().slice(0, 16).replace("T", " ");
}
