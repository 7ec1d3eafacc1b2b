// Which passage of a text answers some terms best, and how well.
import type { Steps } from "@clew/plugin-sdk/host";
import { folded, placeInText, spelledInSteps } from "../messages/spelling.ts";
import type { Match } from "./pattern/matcher.ts";
import type { SearchTerm } from "./terms.ts";
import type { Span } from "./times.ts";

/** A term, and what it counts: the fewer messages hold it, the more. */
export interface Weighed {
  readonly term: SearchTerm;
  readonly weight: number;
}

/** A part of a name tells less than the whole. */
const PART = 0.5;

/** What a term counts that `held` of `of` messages hold; as in BM25. */
export const weightOf = ({ isPart }: SearchTerm, held: number, of: number): number =>
  (isPart ? PART : 1) * Math.log(1 + (Math.max(of, held) - held + 0.5) / (held + 0.5));

/** Characters of a passage. */
const PASSAGE_CHARS = 260;
/** Places of one term that are looked at. */
const MOST_PLACES = 200;
/** What the terms of the whole text count, beside those of its best passage. */
const AROUND = 0.3;

/** What a time that a query names counts, beside all its other terms. */
const TIMELY = 0.8;

/** What a text says to what is asked. */
export interface BestPassage {
  /** Where. */
  readonly match: Match;
  readonly score: number;
  /** The terms that stand in the text. */
  readonly held: ReadonlySet<Weighed>;
}

/** What a text is looked through for. */
export interface PassageRequest {
  readonly terms: readonly Weighed[];
  /** When the text was said, ms. Undefined: nobody knows. */
  readonly time: number | undefined;
}

/** Undefined: none of the terms stands in `text`. */
export function* bestPassage(
  text: string,
  { terms, time }: PassageRequest,
): Steps<BestPassage | undefined> {
  const lower = yield* spelledInSteps(text, folded);
  const places: { start: number; one: Weighed }[] = [];
  for (const one of terms)
    for (const start of yield* placesOf(lower, one.term)) places.push({ start, one });
  places.sort((a, b) => a.start - b.start);
  const inTime = terms.filter(({ term: { span } }) => isIn(span, time));
  if (places.length === 0 && inTime.length === 0) return undefined;
  const inside = new Map<Weighed, number>();
  let [weight, from, line] = [0, 0, lineAt(lower, places[0]?.start ?? 0)];
  let best = { score: 0, match: { start: 0, end: 0 } };
  for (const { start, one } of places) {
    if (start >= line.end) line = lineAt(lower, start);
    const first = Math.max(line.start, start - PASSAGE_CHARS);
    for (; places[from]!.start < first; from++) {
      const left = places[from]!.one;
      const rest = inside.get(left)! - 1;
      inside.set(left, rest);
      if (rest === 0) weight -= left.weight;
    }
    const count = inside.get(one) ?? 0;
    inside.set(one, count + 1);
    if (count === 0) weight += one.weight;
    const score = weight * line.telling;
    if (score > best.score + 1e-9)
      best = { score, match: { start: places[from]!.start, end: start + one.term.stem.length } };
  }
  const held = new Set([...places.map(({ one }) => one), ...inTime]);
  const around = [...held].reduce((sum, one) => sum + one.weight, 0);
  // Who names a time seldom wants what was said at another.
  const all = terms.reduce((sum, one) => sum + one.weight, 0);
  const ofTime = inTime.length === 0 ? 0 : TIMELY * all;
  const match = yield* placeInText(text, { spelling: folded, spelled: lower, match: best.match });
  return { match, score: best.score + ofTime + AROUND * around, held };
}

const isIn = (span: Span | undefined, time: number | undefined) =>
  span !== undefined && time !== undefined && time >= span.from && time < span.to;

/** Where the line ends that `at` stands in, and how much its words tell. */
function lineAt(lower: string, at: number): { start: number; end: number; telling: number } {
  const start = lower.lastIndexOf("\n", at - 1) + 1;
  const feed = lower.indexOf("\n", at);
  const end = feed < 0 ? lower.length : feed;
  const isAsked = QUESTION.test(lower.slice(Math.max(start, end - MOST_SIGNS), end));
  const chars = Math.min(PASSAGE_CHARS, end - start);
  return { start, end, telling: densityOf(chars) * (isAsked ? ASKING : 1) };
}

/** How far the words of a long line say less than those of a short one, as in BM25. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;
/** What a question counts: it has the words, and not what they ask for. */
const ASKING = 0.5;
const QUESTION = /[?？؟]\P{L}*$/u;
/** Behind a question mark. */
const MOST_SIGNS = 8;

/** 1 for a line that fills a passage, more for a shorter one. */
const densityOf = (chars: number) =>
  (1 + SATURATION) / (1 + SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * chars) / PASSAGE_CHARS));

function* placesOf(lower: string, term: SearchTerm): Steps<number[]> {
  const { stem, kind } = term;
  const places: number[] = [];
  let at = lower.indexOf(stem);
  for (let seen = 1; at >= 0 && places.length < MOST_PLACES; seen++) {
    if (kind === "piece" || (isBoundary(lower[at - 1]) && isEnding(term, lower, at + stem.length)))
      places.push(at);
    if (seen % STEP === 0) yield;
    at = lower.indexOf(stem, at + stem.length);
  }
  return places;
}

/** Places that are looked at from one step to the next. */
const STEP = 2_000;

/** What may follow the stem of an English word: "move", "moves", "moved", "moving", "mover". */
const ENDING = /^(?:e|y|ie)?(?:s|d|r|rs|n|ed|er|ers|ing|ings|ly)?(?![\p{L}\p{N}])/u;
const LONGEST_ENDING = 8;

/** The word of a stem may end so; other languages have endings that are not known here. */
function isEnding({ kind, word, stem }: SearchTerm, lower: string, end: number): boolean {
  if (isBoundary(lower[end])) return true;
  // A folder is not what stands in it.
  if (kind !== "word") return stem.length > 2 && !isBoundary(stem.at(-1));
  if (!/^[a-z]+$/.test(word)) return stem.length > 2;
  return stem.length > 2 && ENDING.test(lower.slice(end, end + LONGEST_ENDING));
}

/** A word may begin or end beside it. */
const isBoundary = (character: string | undefined) =>
  character === undefined || !/[\p{L}\p{N}]/u.test(character);
