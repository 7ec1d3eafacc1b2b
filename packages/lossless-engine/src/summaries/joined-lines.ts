// Lets stretches share a line where that tells more of their days than a line for each.
import { estimateText } from "@clew/plugin-sdk/tokens";
import { MOST_DAYS, READER } from "./facts.ts";
import { type Detail, linesOf, linesWithin, type Stretch, textOf } from "./lines.ts";

/** Where lines alone name fewer files of a day, days told together say more. */
const LEAST_FILES = 3;

/** From most to least. The last ones name files only, which take less than what was asked. */
const TOGETHER: readonly Detail[] = [
  { asked: 5, files: 4, answered: 0, chars: 60 },
  { asked: 4, files: 4, answered: 0, chars: 40 },
  { asked: 3, files: 4, answered: 0, chars: 40 },
  { asked: 2, files: 4, answered: 0, chars: 40 },
  { asked: 0, files: 5, answered: 0, chars: 0 },
  { asked: 0, files: 4, answered: 0, chars: 0 },
];

/**
 * Pure: lines of stretches as `linesOf` writes them, while there is room to tell of each of its
 * days; with less, of neighbours together what was done on each day that they hold.
 */
export function joinedLinesOf(stretches: readonly Stretch[], tokens: number): string {
  const alone = linesWithin(stretches, { tokens, leastFiles: LEAST_FILES });
  if (alone !== null) return alone;
  const fits = (text: string) => estimateText(text).estimate <= tokens;
  const sizes = sizesOf(stretches.length);
  const byDays = sizes.map((size) => joinedBy(stretches, { size, days: MOST_DAYS }));
  for (const detail of TOGETHER)
    for (const joined of byDays) {
      const text = textOf(joined, detail);
      if (fits(text)) return text;
    }
  // Days that have too little room each are told two or more at once.
  const all = joinedBy(stretches, { size: stretches.length, days: Infinity });
  const texts = TOGETHER.map((detail) => textOf(all, detail));
  return texts.find(fits) ?? linesOf(stretches, tokens);
}

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
