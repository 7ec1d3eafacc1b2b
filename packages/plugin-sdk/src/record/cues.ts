// Decides by a sentence's words how binding it is.
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

const oneOf = (words: readonly string[], parts: string) =>
  new RegExp(`(?<![\\p{L}\\p{M}])(?:${words.join("|")})(?![\\p{L}\\p{M}])|${parts}`, "iu");
const STANDING = oneOf(STANDING_WORDS, STANDING_PARTS);
const RULE = oneOf(RULE_WORDS, RULE_PARTS);
const WISH = oneOf(WISH_WORDS, WISH_PARTS);
const AMOUNT =
  /(?<![\p{L}\p{N}_/.#@-])\p{N}[\p{N}.,:]*(?![\p{L}\p{N}_/-])|\p{N}\s?(?:%|€|\$|£|¥|元|円|원)/u;
const QUESTION = /[?？؟]\P{L}*$/u;
/** Marks that Arabic and Hebrew texts may or may not write. */
const OPTIONAL_MARKS = /[\u0591-\u05c7\u0640\u064b-\u0652]/g;
const MAX_READ = 400;

const CUES = new RegExp([STANDING, RULE, WISH].map(({ source }) => source).join("|"), "giu");

/** What a sentence's words say of it, from its first 400 characters. */
export function forceOf(sentence: string): Force {
  const read = readable(sentence);
  const isQuestion = QUESTION.test(read);
  if (STANDING.test(read)) return isQuestion ? "rule" : "standing";
  if (RULE.test(read)) return "rule";
  if (WISH.test(read)) return "wish";
  if (isQuestion || namesIn(read).length > 0) return "task";
  return AMOUNT.test(read) ? "amount" : "plain";
}

/** The first 400 characters of a sentence without the words that say how binding it is. */
export const withoutCues = (sentence: string): string => readable(sentence).replace(CUES, " ");

const readable = (sentence: string) =>
  sentence.slice(0, MAX_READ).normalize("NFC").replace(OPTIONAL_MARKS, "");
