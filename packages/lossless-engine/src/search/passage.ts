// Which passage of a text answers some words best, and how well.
import type { Match } from "./pattern/matcher.ts";
import { stemOf } from "./stem.ts";

/** A word that is looked for. */
export interface Term {
  readonly word: string;
  /** With this it begins wherever it stands, whatever its ending; lower case. */
  readonly stem: string;
  /** The fewer messages hold it, the more. */
  readonly weight: number;
}

/** The words, and what each counts among `of` messages. `holders`: messages that hold each. */
export function planTerms(holders: ReadonlyMap<string, readonly number[]>, of: number): Term[] {
  return [...holders].map(([word, { length }]) => ({
    word,
    stem: stemOf(word),
    weight: Math.log(1 + (Math.max(of, length) - length + 0.5) / (length + 0.5)),
  }));
}

/** Characters of a passage. */
const PASSAGE_CHARS = 300;
/** Places of one word that are looked at. */
const MOST_PLACES = 200;
/** What the words of the whole text count, beside those of its best passage. */
const AROUND = 0.5;

/** Undefined: none of the words stands in `text`. Linear. */
export function bestPassage(
  text: string,
  terms: readonly Term[],
): { match: Match; score: number } | undefined {
  const lower = text.toLowerCase();
  const places = terms
    .flatMap((term) => placesOf(lower, term.stem).map((start) => ({ start, term })))
    .sort((a, b) => a.start - b.start);
  if (places.length === 0) return undefined;
  const inside = new Map<Term, number>();
  let [weight, from] = [0, 0];
  let best = { weight: -1, match: { start: 0, end: 0 } };
  for (const { start, term } of places) {
    const count = inside.get(term) ?? 0;
    inside.set(term, count + 1);
    if (count === 0) weight += term.weight;
    while (start - places[from]!.start > PASSAGE_CHARS) {
      const left = places[from++]!.term;
      inside.set(left, inside.get(left)! - 1);
      if (inside.get(left) === 0) weight -= left.weight;
    }
    if (weight > best.weight + 1e-9)
      best = { weight, match: { start: places[from]!.start, end: start + term.stem.length } };
  }
  const held = new Set(places.map(({ term }) => term));
  const around = [...held].reduce((sum, term) => sum + term.weight, 0);
  return { match: best.match, score: best.weight + AROUND * around };
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
