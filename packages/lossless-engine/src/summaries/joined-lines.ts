// Decides which stretches share a line, so that something is told of every day.
import { type Filled, filledLines, type Group, withFewer } from "./fill-lines.ts";
import { linesOf, linesWithin, type Stretch } from "./lines.ts";

/** Where lines name fewer files of a day, room is shared out among the days. */
const LEAST_FILES = 3;

/** Shares of the lines that there could be, from the finest to the coarsest. */
const FEWER = [1, 3 / 4, 1 / 2, 3 / 8, 1 / 4, 1 / 8, 0] as const;

/** Of what a coarser way tells: finer lines lead further. */
const ENOUGH = 0.95;

/**
 * Pure: lines of stretches as `linesOf` writes them, while there is room to tell of each of its
 * days; with less, what belongs to each day is told once, whichever lines it lies in; with less
 * still, neighbours share lines, which name their summaries, so that no day is left out.
 */
export function joinedLinesOf(stretches: readonly Stretch[], tokens: number): string {
  const alone = linesWithin(stretches, { tokens, leastFiles: LEAST_FILES });
  if (alone !== null) return alone;
  const costs = new Map<string, number>();
  const ways: Filled[] = [];
  for (const groups of groupsOf(stretches))
    for (const isShort of groups.length === stretches.length ? [false, true] : [true]) {
      const filled = filledLines(groups, { tokens, mostDays: Infinity, isShort, costs });
      if (filled?.isFull === true) return filled.text;
      if (filled !== null) ways.push(filled);
    }
  const told = Math.max(0, ...ways.map(({ daysTold }) => daysTold));
  const telling = ways.filter(({ daysTold }) => daysTold === told);
  const most = Math.max(0, ...telling.map((way) => way.told));
  const best = telling.find((way) => way.told >= ENOUGH * most);
  if (best !== undefined && best.daysTold === best.days) return best.text;
  return inFewerDays(stretches, tokens, costs) ?? best?.text ?? linesOf(stretches, tokens);
}

function* groupsOf(stretches: readonly Stretch[]): Generator<readonly Group[]> {
  const alone = stretches.map((stretch) => ({
    group: [stretch] as Group,
    messages: stretch.facts.messages,
  }));
  const counts = FEWER.map((share) => Math.max(1, Math.ceil(share * alone.length)));
  for (const count of new Set(counts)) {
    const joined = withFewer(alone, count, (one, other) => ({
      group: [...one.group, ...other.group],
      messages: one.messages + other.messages,
    }));
    yield joined.map(({ group }) => group);
  }
}

/** Days that have too little room each are told some at once. Null: there is less still. */
function inFewerDays(
  stretches: readonly Stretch[],
  tokens: number,
  costs: Map<string, number>,
): string | null {
  const days = stretches.reduce((sum, { facts }) => sum + facts.days.length, 0);
  for (let mostDays = Math.ceil(days / 2); mostDays > 1; mostDays = Math.ceil(mostDays / 2)) {
    const filled = filledLines([stretches], { tokens, mostDays, isShort: false, costs });
    if (filled !== null && filled.daysTold === filled.days) return filled.text;
  }
  return null;
}
