// Spells texts as the index has them, and what is looked for as it is asked for there.
import { isData } from "@clew/plugin-sdk/transcript";

/** What the index has of a text. */
export interface IndexedText {
  /** Capitals, digits and signs of ASCII. */
  text: string;
  /** True: nothing; the message is read to be searched. */
  isBulk: boolean;
}

/** What an index can be asked for. */
export interface IndexNeeds {
  /** Patterns of LIKE that the text fits, all of them. */
  patterns: readonly string[];
  /** True: an index of trigrams narrows at least one of them. */
  hasTrigrams: boolean;
  /** Words that all stand in it. */
  words: readonly string[];
}

/** A text that the index does not hold. */
export const BULK: IndexedText = { text: "", isBulk: true };

/** Longer texts are read to be searched. */
const MOST_CHARS = 100_000;
/** The same spelled; what is beyond ASCII takes several characters. */
const MOST_SPELLED = 300_000;
/** PostgreSQL takes words of 2,046 bytes. */
const TOO_LONG_A_WORD = /[A-Z0-9]{2000}/;
/** Patterns that are asked for; more narrow little, and each is looked for. */
const MOST_PATTERNS = 2;
/** Shorter words are in nearly all messages. */
const LEAST_WORD = 2;

const BEYOND_ASCII = /[^\0-\x7f]/;
const UNPARTED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc]/u;
/** Accents, and halves of characters. */
const LEFT_OUT = /[\p{M}\p{Cs}]/gu;
const IN_WORDS = /[\p{L}\p{N}]/u;

/**
 * One spelling for letters in either case and with whatever accents, whose parts are the spellings
 * of the text's parts: what holds a text is spelled so that it holds the text's spelling. No
 * locale of a database has a say in it, as it is all ASCII.
 */
export function spelled(text: string): string {
  const spaced = (plain: string) => plain.replace(/[\s\0-\x1f\x7f]+/g, " ");
  if (!BEYOND_ASCII.test(text)) return spaced(text).toUpperCase();
  const plain = text.normalize("NFD").replace(LEFT_OUT, "").toLowerCase().toUpperCase();
  // Other characters may have come of it.
  const signs = spaced(plain).normalize("NFD").replace(LEFT_OUT, "");
  return signs.replace(/[^\0-\x7f]/gu, codeOf);
}

/** Part of a word where the character is; else by itself. */
function codeOf(point: string): string {
  const code = point.codePointAt(0)!.toString(36).toUpperCase();
  return IN_WORDS.test(point) && !UNPARTED.test(point) ? code : ` ${code} `;
}

/** Pure. */
export function indexedText(text: string): IndexedText {
  if (text.length > MOST_CHARS) return BULK;
  const index = spelled(text);
  const isBulk = index.length > MOST_SPELLED || TOO_LONG_A_WORD.test(index) || isData(text);
  return isBulk ? BULK : { text: index, isBulk };
}

/** Pure. What a message has in the index that holds all of these. */
export function indexNeeds({
  literals,
  words,
}: {
  literals: readonly string[];
  words: readonly string[];
}): IndexNeeds {
  const texts = literals
    .map(spelled)
    .filter((text) => text.trim() !== "")
    .sort((one, other) => other.length - one.length);
  const inside = texts.flatMap((text) =>
    runsIn(text).flatMap((run) => (run.isBegun && run.isEnded ? [run.word] : [])),
  );
  const whole = words.flatMap((word) => runsIn(spelled(word)).map(({ word }) => word));
  const known = [...new Set([...whole, ...inside])].filter(
    ({ length }) => length >= LEAST_WORD && length < 2000,
  );
  const patterns = texts.slice(0, MOST_PATTERNS);
  return {
    patterns: patterns.map((text) => `%${text.replace(/[\\%_]/g, "\\$&")}%`),
    hasTrigrams: patterns.some((text) => runsIn(text).some(hasTrigram)),
    words: known,
  };
}

interface Run {
  word: string;
  /** True: what stands before it parts words. */
  isBegun: boolean;
  /** The same of what stands behind it. */
  isEnded: boolean;
}

const runsIn = (text: string): Run[] =>
  [...text.matchAll(/[A-Z0-9]+/g)].map(({ 0: word, index }) => ({
    word,
    isBegun: index > 0,
    isEnded: index + word.length < text.length,
  }));

/** Two blanks are put before a word there, and one behind it. */
const hasTrigram = ({ word, isBegun, isEnded }: Run): boolean =>
  word.length + (isBegun ? 2 : 0) + (isEnded ? 1 : 0) >= 3;

/** A query for words as they are in the index. */
export const wordQuery = (words: readonly string[]): string =>
  words.map((word) => `'${word}'`).join(" & ");
