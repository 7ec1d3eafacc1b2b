// In which spelling texts are compared when something is looked for.
import type { Steps } from "@clew/plugin-sdk/host";

/** Writes a text in one spelling. */
export type Spelling = (text: string) => string;

/** Every smaller character is spelled in one way only. */
const SPELLED_VARIOUSLY = /[\u0300-\uffff]/;
const BEYOND_ASCII = /[^\0-\x7f]/;
const ACCENTS = /[\u0300-\u036f]+/g;

/** Letters and their accents as one character, as far as there is one for both (Unicode's NFC). */
export const composed: Spelling = (text) =>
  SPELLED_VARIOUSLY.test(text) ? text.normalize("NFC") : text;

/** The same for a letter in either case, with and without accents; ß is ss. */
export const folded: Spelling = (text) =>
  BEYOND_ASCII.test(text) ? sameLetters(withoutAccents(text).toLowerCase()) : text.toLowerCase();

const withoutAccents = (text: string) =>
  text.normalize("NFD").replace(ACCENTS, "").normalize("NFC");

const sameLetters = (text: string) => text.replaceAll("ς", "σ").replaceAll("ß", "ss");

/**
 * How a word may be written that an index has in one of these ways: with ß or ss, with ё or е. Of
 * several such letters in a word one at a time differs from the others.
 */
export function writingsOf(word: string): string[] {
  const plain = word.toLowerCase().replaceAll("ё", "е").replaceAll("ß", "ss");
  return [...new Set([word, plain, ...onePlace(plain, "е", "ё"), ...onePlace(plain, "ss", "ß")])];
}

const onePlace = (word: string, plain: string, other: string): string[] =>
  [...word.matchAll(new RegExp(plain, "g"))].map(
    ({ index }) => `${word.slice(0, index)}${other}${word.slice(index + plain.length)}`,
  );

/** Composed, and in one case. */
export const composedLower: Spelling = (text) => composed(text).toLowerCase();

/** A part of a text. */
export interface Place {
  /** Index of its first character. */
  readonly start: number;
  /** Index behind its last. */
  readonly end: number;
}

/** A place in a spelling of a text. */
export interface SpelledPlace {
  readonly spelling: Spelling;
  /** The text in it. */
  readonly spelled: string;
  readonly match: Place;
}

/** Units that are spelled at once on the way to a place. */
const PIECE = 4_096;
/** Units that are spelled in one step: a millisecond's work. */
const STEP = 65_536;
/** What may go together with the character before it. */
const JOINS = /[\u0300-\u036f\u1100-\u11ff\u3099\u309a\ud7b0-\ud7ff\p{M}\udc00-\udfff]/u;

/** `text` in that spelling; others have their turn while a long one is spelled. */
export function* spelledInSteps(text: string, spelling: Spelling): Steps<string> {
  if (text.length <= STEP) return spelling(text);
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = pieceEnd(text, at + STEP);
    pieces.push(spelling(text.slice(at, end)));
    at = end;
    yield;
  }
  return pieces.join("");
}

/** Where in `text` stands what was found in a spelling of it. */
export function* placeInText(
  text: string,
  { spelling, spelled, match: { start, end } }: SpelledPlace,
): Steps<Place> {
  if (spelled === text || (spelled.length === text.length && !SPELLED_VARIOUSLY.test(text)))
    return { start, end };
  const from = yield* unitAt(text, spelling, start);
  const to = (yield* unitAt(text.slice(from), spelling, end - start)) + from;
  return { start: from, end: to };
}

/** How many units of `text` are spelled in `wanted` ones, with all accents of the last. */
function* unitAt(text: string, spelling: Spelling, wanted: number): Steps<number> {
  let [at, left] = [0, wanted];
  for (;;) {
    const next = pieceEnd(text, at + PIECE);
    const piece = text.slice(at, next);
    const length = spelling(piece).length;
    if (length > left || next === text.length) return at + unitInPiece(piece, spelling, left);
    left -= length;
    at = next;
    yield;
  }
}

/** The first place from `least` on that parts no character. */
function pieceEnd(text: string, least: number): number {
  let end = Math.min(text.length, least);
  while (end < text.length && JOINS.test(text[end]!)) end++;
  return end;
}

/** The spelled length of a beginning never falls as it grows longer, but for a letter or two. */
function unitInPiece(piece: string, spelling: Spelling, wanted: number): number {
  let [low, high] = [0, piece.length];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (spelling(piece.slice(0, middle)).length > wanted) high = middle - 1;
    else low = middle;
  }
  return low;
}
