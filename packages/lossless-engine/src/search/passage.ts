// Which passage of a text answers some terms best, and how well.
import type { Match } from "./pattern/matcher.ts";
import type { SearchTerm } from "./terms.ts";

/** A term, and what it counts: the fewer messages hold it, the more. */
export interface Weighed {
  readonly term: SearchTerm;
  readonly weight: number;
}

/** A part of a name tells less than the whole. */
const PART = 0.5;

/** `holders`: how many of `of` messages hold each of the terms. */
export const weigh = (holders: ReadonlyMap<SearchTerm, number>, of: number): Weighed[] =>
  [...holders].map(([term, held]) => ({
    term,
    weight: (term.isPart ? PART : 1) * Math.log(1 + Math.max(of, held) / (0.5 + held)),
  }));

/** Characters of a passage. */
const PASSAGE_CHARS = 260;
/** Places of one term that are looked at. */
const MOST_PLACES = 200;
/** What the terms of the whole text count, beside those of its best passage. */
const AROUND = 0.3;

/** Undefined: none of the terms stands in `text`. `day`: when it was said, "2026-01-31". */
export function bestPassage(
  text: string,
  terms: readonly Weighed[],
  day: string | undefined,
): { match: Match; score: number } | undefined {
  const lower = text.toLowerCase();
  const places = terms
    .flatMap((one) => placesOf(lower, one.term.stem).map((start) => ({ start, one })))
    .sort((a, b) => a.start - b.start);
  const onDay = terms.filter(({ term }) => term.kind === "day" && term.stem === day);
  if (places.length === 0 && onDay.length === 0) return undefined;
  const inside = new Map<Weighed, number>();
  let [weight, from] = [0, 0];
  let best = { weight: 0, match: { start: 0, end: 0 } };
  for (const { start, one } of places) {
    const count = inside.get(one) ?? 0;
    inside.set(one, count + 1);
    if (count === 0) weight += one.weight;
    for (; start - places[from]!.start > PASSAGE_CHARS; from++) {
      const left = places[from]!.one;
      const rest = inside.get(left)! - 1;
      inside.set(left, rest);
      if (rest === 0) weight -= left.weight;
    }
    if (weight > best.weight + 1e-9)
      best = { weight, match: { start: places[from]!.start, end: start + one.term.stem.length } };
  }
  const held = new Set([...places.map(({ one }) => one), ...onDay]);
  const around = [...held].reduce((sum, one) => sum + one.weight, 0);
  const ofDay = onDay.reduce((sum, one) => sum + one.weight, 0);
  return { match: best.match, score: best.weight + ofDay + AROUND * around };
}

function placesOf(lower: string, stem: string): number[] {
  const places: number[] = [];
  for (
    let at = lower.indexOf(stem);
    at >= 0 && places.length < MOST_PLACES;
    at = lower.indexOf(stem, at + stem.length)
  )
    if (isBoundary(lower[at - 1]) && (stem.length > 2 || isBoundary(lower[at + stem.length])))
      places.push(at);
  return places;
}

/** A word may begin or end beside it. */
const isBoundary = (character: string | undefined) =>
  character === undefined || !/[\p{L}\p{N}]/u.test(character);
