// Finds the words of a query in a text, as it stands there.
import type { QueryWords } from "../store/word-text.ts";
import type { Match } from "./pattern/matcher.ts";

/** The index knows a word by its stem and without its accents: it may not be found as it is. */
const NOWHERE: Match = { start: 0, end: 0 };
/** Letters that a stem may lack or change: "running" and "run", "studies" and "study". */
const ENDING = 4;
const LEAST_STEM = 3;
/** Places of one stem that are looked at. */
const MOST_PLACES = 200;

/**
 * Where `text` holds all that is looked for: what tells most of it. Undefined: it does not.
 * `isSure`: the index says that it holds the words.
 */
export function placeIn(
  text: string,
  { words, literals }: QueryWords,
  isSure: boolean,
): Match | undefined {
  const lower = text.toLowerCase();
  const places: Match[] = [];
  for (const literal of literals) {
    const start = lower.indexOf(literal.toLowerCase());
    if (start < 0) return undefined;
    places.push({ start, end: start + literal.length });
  }
  for (const word of words) {
    const place = wordIn(lower, word.toLowerCase());
    if (place === undefined && !isSure) return undefined;
    if (place !== undefined) places.push(place);
  }
  const longest = (one: Match, other: Match) =>
    other.end - other.start > one.end - one.start ? other : one;
  return words.length + literals.length === 0 ? undefined : places.reduce(longest, NOWHERE);
}

/** The word itself; of one that is all letters, another form of it otherwise. */
function wordIn(lower: string, word: string): Match | undefined {
  const itself = placeOf(lower, word, 0);
  if (itself !== undefined || !/^\p{L}+$/u.test(word)) return itself;
  return placeOf(lower, word.slice(0, Math.max(LEAST_STEM, word.length - ENDING)), 2 * ENDING);
}

/** A word that begins with `stem` and has at most `more` characters behind it. */
function placeOf(lower: string, stem: string, more: number): Match | undefined {
  let at = lower.indexOf(stem);
  for (let place = 0; at >= 0 && place < MOST_PLACES; place++) {
    const rest = /^[\p{L}\p{N}]*/u.exec(lower.slice(at + stem.length, at + stem.length + more + 2));
    if (isEdge(lower[at - 1]) && rest![0].length <= more)
      return { start: at, end: at + stem.length };
    at = lower.indexOf(stem, at + 1);
  }
  return undefined;
}

const isEdge = (character: string | undefined) =>
  character === undefined || !/[\p{L}\p{N}]/u.test(character);
