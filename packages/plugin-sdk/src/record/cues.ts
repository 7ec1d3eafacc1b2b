// Decides by a sentence's words how binding it is.
import { type Steps, stepsAtOnce } from "../slices.ts";
import {
  RULE_PARTS,
  RULE_WORDS,
  STANDING_PARTS,
  STANDING_WORDS,
  WISH_PARTS,
  WISH_WORDS,
} from "./cue-words.ts";
import { namesIn } from "./names.ts";

/**
 * How binding a sentence is: it forbids, or says how it always is ("standing"), demands ("rule"),
 * prefers or decides ("wish"), counts or dates ("amount"), says something else ("plain"), or asks
 * about something at hand ("task"): it is a question, or names a file or an id. What is in words we
 * do not know is plain.
 */
export type Force = "standing" | "rule" | "wish" | "amount" | "plain" | "task";

/** Forbids or demands. */
export const isBinding = (force: Force) => force === "standing" || force === "rule";

/** Ends as one. */
export const isQuestion = (sentence: string) => QUESTION.test(sentence);

/**
 * One for each language: one for all takes 50 to 100 ms to compile. Made when first looked for:
 * who only loads this file need not wait for all of them.
 */
function oneOf(words: readonly string[], parts: string): () => readonly RegExp[] {
  let made: readonly RegExp[] | undefined;
  const make = () =>
    [
      ...words.map((ofLanguage) => `(?<![\\p{L}\\p{M}])(?:${ofLanguage})(?![\\p{L}\\p{M}])`),
      parts,
    ].map((source) => new RegExp(source, "giu"));
  return () => (made ??= make());
}
const standing = oneOf(STANDING_WORDS, STANDING_PARTS);
const rule = oneOf(RULE_WORDS, RULE_PARTS);
const wish = oneOf(WISH_WORDS, WISH_PARTS);
const AMOUNT =
  /(?<![\p{L}\p{N}_/.#@-])\p{N}[\p{N}.,:]*(?![\p{L}\p{N}_/-])|\p{N}\s?(?:%|€|\$|£|¥|元|円|원)/u;
const QUESTION = /[?？؟]\P{L}*$/u;
/** Marks that Arabic and Hebrew texts may or may not write. */
const OPTIONAL_MARKS = /[\u0591-\u05c7\u0640\u064b-\u0652]/g;
const MAX_READ = 400;
/** Who prefers or decides says so shortly; in longer sentences its words are about other things. */
const MAX_WISH = 160;

/** What a sentence's words say of it, from its first 400 characters. */
export const forceOf = (sentence: string): Force => stepsAtOnce(forceSteps(sentence));

/** The same in steps: the first time it takes some milliseconds to compile each language. */
export function* forceSteps(sentence: string): Steps<Force> {
  const read = readable(sentence);
  const asks = isQuestion(read);
  if (yield* holdsSteps(read, standing())) return asks ? "rule" : "standing";
  if (yield* holdsSteps(read, rule())) return "rule";
  if (read.length <= MAX_WISH && (yield* holdsSteps(read, wish()))) return "wish";
  if (asks || namesIn(read).length > 0) return "task";
  return AMOUNT.test(read) ? "amount" : "plain";
}

function* holdsSteps(text: string, cues: readonly RegExp[]): Steps<boolean> {
  for (const cue of cues) {
    yield;
    if (matchFrom(text, cue, 0) !== undefined) return true;
  }
  return false;
}

/**
 * The first 400 characters of a sentence without the words that say how binding it is: of those
 * that begin first the one that comes first in our lists.
 */
export function* withoutCuesSteps(sentence: string): Steps<string> {
  const text = readable(sentence);
  const next: { cue: RegExp; match: Match }[] = [];
  for (const cue of [...standing(), ...rule(), ...wish()]) {
    yield;
    const match = matchFrom(text, cue, 0);
    if (match !== undefined) next.push({ cue, match });
  }
  let rest = "";
  let end = 0;
  for (;;) {
    let first: Match | undefined;
    for (const one of next) {
      if (one.match.start < end) one.match = matchFrom(text, one.cue, end) ?? NOWHERE;
      if (one.match.start < (first?.start ?? NOWHERE.start)) first = one.match;
    }
    if (first === undefined) return rest + text.slice(end);
    rest += `${text.slice(end, first.start)} `;
    end = first.end;
  }
}

interface Match {
  start: number;
  end: number;
}

const NOWHERE: Match = { start: Infinity, end: Infinity };

/** The first at `from` or later. */
function matchFrom(text: string, cue: RegExp, from: number): Match | undefined {
  cue.lastIndex = from;
  const found = cue.exec(text);
  return found === null ? undefined : { start: found.index, end: cue.lastIndex };
}

const readable = (sentence: string) =>
  sentence.slice(0, MAX_READ).normalize("NFC").replace(OPTIONAL_MARKS, "");
