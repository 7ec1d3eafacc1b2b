// Lets stretches share a line where that tells more of their days than a line for each.
import { estimateText } from "@clew/plugin-sdk/tokens";
import { headOf } from "@clew/plugin-sdk/transcript";
import type { DayFacts } from "../store/summary-rows.ts";
import { MOST_DAYS, READER } from "./facts.ts";
import { type Detail, linesOf, linesWithin, pathText, type Stretch, textOf } from "./lines.ts";

/** Where lines alone name fewer files of a day, days told together say more. */
const LEAST_FILES = 3;

/** From most to least. Names of files take less room than what was asked. */
const TOGETHER: readonly Detail[] = [
  { asked: 5, files: 4, answered: 0, chars: 60 },
  { asked: 4, files: 4, answered: 0, chars: 40 },
  { asked: 3, files: 4, answered: 0, chars: 40 },
  { asked: 2, files: 4, answered: 0, chars: 40 },
  { asked: 0, files: 8, answered: 0, chars: 0 },
  { asked: 0, files: 5, answered: 0, chars: 0 },
  { asked: 0, files: 4, answered: 0, chars: 0 },
  { asked: 1, files: 1, answered: 0, chars: 30 },
  { asked: 0, files: 2, answered: 0, chars: 0 },
  { asked: 1, files: 0, answered: 0, chars: 30 },
  { asked: 0, files: 1, answered: 0, chars: 0 },
];

/**
 * Pure: lines of stretches as `linesOf` writes them, while there is room to tell of each of its
 * days; with less, neighbours together, in the way in which most days are told something of, and of
 * those ways the one that names most.
 */
export function joinedLinesOf(stretches: readonly Stretch[], tokens: number): string {
  const alone = linesWithin(stretches, { tokens, leastFiles: LEAST_FILES });
  if (alone !== null) return alone;
  const everyDay = stretches.flatMap(({ facts }) => facts.days);
  const sizes = sizesOf(stretches.length);
  const all = { size: stretches.length, days: Infinity };
  const ways = [
    ...sizes.map((size) => joinedBy(stretches, { size, days: MOST_DAYS })),
    joinedBy(stretches, all),
    // Days that have too little room each are told two or more at once, with a little of each.
    ...[2, 1].map((most) => joinedBy(thinned(stretches, most), all)),
  ];
  const fitting = TOGETHER.flatMap((detail) => ways.map((joined) => textOf(joined, detail))).filter(
    (text) => estimateText(text).estimate <= tokens,
  );
  const best = mostTold(fitting, everyDay);
  return best ?? linesOf(stretches, tokens);
}

/** The first of those that tell something of most days, and name most of what was done. */
function mostTold(texts: readonly string[], days: readonly DayFacts[]): string | undefined {
  let [best, most]: [string | undefined, number] = [undefined, 0];
  for (const text of texts) {
    const named = days.map((day) => namesOf(day).filter((name) => text.includes(name)).length);
    const score =
      named.filter((count) => count > 0).length * MOST_NAMES * days.length +
      named.reduce((sum, count) => sum + Math.min(count, MOST_NAMES - 1), 0);
    if (score > most) [best, most] = [text, score];
  }
  return best ?? texts[0];
}

/** More than a day can name. */
const MOST_NAMES = 32;
/** By so many characters of a request it is known which one it is, more or less. */
const KNOWN_CHARS = 28;

/** By what it is seen that a text tells of the day: requests of many days begin alike. */
const namesOf = ({ asked, files }: DayFacts): string[] =>
  files.length > 0
    ? files.map(([path]) => pathText(path, SHORT_PATHS))
    : asked.map(({ text }) => headOf(text, KNOWN_CHARS).trimEnd().replaceAll('"', "'"));

const SHORT_PATHS: Detail = { asked: 0, files: 1, answered: 0, chars: 0 };

/** With so many files and requests of each day at most. */
const thinned = (stretches: readonly Stretch[], most: number): Stretch[] =>
  stretches.map((stretch) => ({
    ...stretch,
    facts: {
      ...stretch.facts,
      days: stretch.facts.days.map((day) => ({
        ...day,
        asked: day.asked.slice(0, most),
        files: day.files.slice(0, most),
      })),
    },
  }));

/** Each twice the one before, up to one for all. */
function sizesOf(count: number): number[] {
  const sizes: number[] = [];
  for (let size = 2; size < 2 * count; size *= 2) sizes.push(size);
  return sizes;
}

/** So many neighbours at most, and of so many days: of more, days would become one. */
function joinedBy(
  stretches: readonly Stretch[],
  { size, days }: { size: number; days: number },
): Stretch[] {
  const groups: Stretch[][] = [];
  for (const stretch of stretches) {
    const group = groups.at(-1) ?? [];
    const has = group.length > 0 && group.length < size && daysIn([...group, stretch]) <= days;
    if (has) group.push(stretch);
    else groups.push([stretch]);
  }
  return groups.map(asOne);
}

const daysIn = (group: readonly Stretch[]) =>
  new Set(group.flatMap(({ facts }) => facts.days.map(({ from, to }) => `${from} ${to}`))).size;

function asOne(group: readonly Stretch[]): Stretch {
  const [first, last] = [group[0]!, group.at(-1)!.last];
  if (group.length === 1) return first;
  const facts = READER.ofParts(group.map((one) => one.facts));
  return { ...first, id: null, last, facts, words: null };
}
