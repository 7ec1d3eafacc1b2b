// Finds the words of a query in a text, as it stands there.
import type { Steps } from "@clew/plugin-sdk/host";
import {
  composedLower,
  folded,
  placeInText,
  type SpelledPlace,
  spelledInSteps,
} from "../messages/spelling.ts";
import type { QueryWords } from "../store/word-text.ts";
import type { Match } from "./pattern/matcher.ts";

/** The index knows a word by its stem: it may not be found as it is. */
const NOWHERE: Match = { start: 0, end: 0 };
/** Letters that a stem may lack or change: "running" and "run", "studies" and "study". */
const ENDING = 4;
const LEAST_STEM = 3;
/** Places that are looked at from one step to the next. */
const STEP = 2_000;

/**
 * Where `text` holds all that is looked for: what tells most of it. Undefined: it does not.
 * `isSure`: the index says that it holds the words.
 */
export function* placeIn(
  text: string,
  { words, literals }: QueryWords,
  isSure: boolean,
): Steps<Match | undefined> {
  if (words.length + literals.length === 0) return undefined;
  const places: SpelledPlace[] = [];
  for (const literal of literals) {
    const place = yield* literalPlace(text, literal);
    if (place === undefined) return undefined;
    places.push(place);
  }
  const spelled = words.length === 0 ? "" : yield* spelledInSteps(text, folded);
  for (const word of words) {
    const match = yield* wordIn(spelled, folded(word));
    if (match === undefined && !isSure) return undefined;
    if (match !== undefined) places.push({ spelling: folded, spelled, match });
  }
  if (places.length === 0) return NOWHERE;
  return yield* placeInText(
    text,
    places.reduce((one, other) => (lengthOf(other) > lengthOf(one) ? other : one)),
  );
}

const lengthOf = ({ match: { start, end } }: SpelledPlace) => end - start;

/** What is looked for as it stands, in either case. */
export function* literalIn(text: string, literal: string): Steps<Match | undefined> {
  const place = yield* literalPlace(text, literal);
  return place && (yield* placeInText(text, place));
}

function* literalPlace(text: string, literal: string): Steps<SpelledPlace | undefined> {
  const spelled = yield* spelledInSteps(text, composedLower);
  const wanted = composedLower(literal);
  const start = spelled.indexOf(wanted);
  if (start < 0) return undefined;
  return { spelling: composedLower, spelled, match: { start, end: start + wanted.length } };
}

/** The word itself; of one that is all letters, another form of it otherwise. */
function* wordIn(text: string, word: string): Steps<Match | undefined> {
  const itself = yield* placeOf(text, word, 0);
  if (itself !== undefined || !/^\p{L}+$/u.test(word)) return itself;
  return yield* placeOf(
    text,
    word.slice(0, Math.max(LEAST_STEM, word.length - ENDING)),
    2 * ENDING,
  );
}

/** A word that begins with `stem` and has at most `more` characters behind it. */
function* placeOf(text: string, stem: string, more: number): Steps<Match | undefined> {
  let at = text.indexOf(stem);
  for (let place = 1; at >= 0; place++) {
    if (isEdge(text[at - 1])) {
      const rest = REST.exec(text.slice(at + stem.length, at + stem.length + more + 2));
      if (rest![0].length <= more) return { start: at, end: at + stem.length };
    }
    if (place % STEP === 0) yield;
    at = text.indexOf(stem, at + 1);
  }
  return undefined;
}

const REST = /^[\p{L}\p{N}]*/u;

const isEdge = (character: string | undefined) =>
  character === undefined || !/[\p{L}\p{N}]/u.test(character);
