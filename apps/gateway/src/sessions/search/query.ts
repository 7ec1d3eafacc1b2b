// Decides whether a text holds what is searched for, and what it must hold at least.
import { textPattern } from "@clew/lossless-engine/store";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Steps } from "@clew/plugin-sdk/host";

/** Text as it stands, in any case; words, all of them and in any order; or a regular expression. */
export interface SearchQuery {
  kind: "text" | "words" | "pattern";
  text: string;
}

export interface SearchMatcher {
  /** One line around the place; undefined: the text does not hold it. */
  excerptOf(text: string): Steps<string | undefined>;
  /** What every text holds that holds it, in either case and whatever its accents. */
  readonly needs: { literals: readonly string[]; words: readonly string[] };
}

/** Around a place. */
const AROUND = 60;
/** More of what was found is not shown. */
const MOST_SHOWN = 200;
/** Looked through between two steps. */
const WORDS_IN_A_STEP = 2_000;

const BLANKS = /\s+/g;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Scripts in which nothing parts one word from the next, and Hangul, where endings are joined. */
const UNPARTED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc]+/gu;
const BEYOND_ASCII = /[^\0-\x7f]/;
const ACCENTS = /[\u0300-\u036f]+/g;

/** Throws REQUEST_INVALID for what cannot be looked for. */
export function searchMatcher({ kind, text }: SearchQuery): SearchMatcher {
  if (text.trim() === "") throw nothingIsAsked();
  if (kind === "text") return textMatcher(text);
  return kind === "words" ? wordMatcher(text) : patternMatcher(text);
}

function textMatcher(text: string): SearchMatcher {
  const wanted = composed(text).replace(BLANKS, " ").toLowerCase();
  return {
    needs: { literals: [wanted], words: [] },
    // biome-ignore lint/correctness/useYield: one step is enough.
    *excerptOf(said) {
      const line = composed(said).replace(BLANKS, " ");
      const start = line.toLowerCase().indexOf(wanted);
      return start < 0 ? undefined : excerpt(line, { start, end: start + wanted.length });
    },
  };
}

function patternMatcher(source: string): SearchMatcher {
  const { placeIn, literals } = textPattern(source);
  return {
    needs: { literals, words: [] },
    *excerptOf(said) {
      const text = composed(said);
      const place = yield* placeIn(text);
      return place && excerpt(text, place);
    },
  };
}

function wordMatcher(query: string): SearchMatcher {
  const parts = composed(query).toLowerCase().match(UNPARTED) ?? [];
  const words = new Set(wordsOf(query).map(({ word }) => word));
  if (parts.length + words.size === 0) throw nothingIsAsked();
  return {
    needs: { literals: parts, words: [...words] },
    *excerptOf(said) {
      const text = composed(said);
      const lower = parts.length === 0 ? "" : text.toLowerCase();
      if (!parts.every((part) => lower.includes(part))) return undefined;
      const missing = new Set(words);
      let place = lower.indexOf(parts[0] ?? "");
      let length = parts[0]?.length ?? 0;
      let seen = 0;
      for (const { word, start, end } of eachWord(text)) {
        if (missing.size === 0) break;
        if (missing.delete(word) && length < end - start) [place, length] = [start, end - start];
        if (++seen % WORDS_IN_A_STEP === 0) yield;
      }
      return missing.size > 0 ? undefined : excerpt(text, { start: place, end: place + length });
    },
  };
}

const wordsOf = (text: string) => [...eachWord(composed(text))];

function* eachWord(text: string): Generator<{ word: string; start: number; end: number }> {
  for (const { 0: run, index } of text.matchAll(WORD)) {
    if (!BEYOND_ASCII.test(run)) {
      yield { word: run.toLowerCase(), start: index, end: index + run.length };
      continue;
    }
    // Blanks of the same length: places stay what they are.
    const parted = run.replace(UNPARTED, (part) => " ".repeat(part.length));
    for (const { 0: word, index: at } of parted.matchAll(/[^ ]+/g))
      yield { word: folded(word), start: index + at, end: index + at + word.length };
  }
}

const composed = (text: string): string => (BEYOND_ASCII.test(text) ? text.normalize("NFC") : text);

/** The same for a letter in either case, with and without accents; ß is ss. */
const folded = (word: string): string =>
  word
    .normalize("NFD")
    .replace(ACCENTS, "")
    .normalize("NFC")
    .toLowerCase()
    .replaceAll("ς", "σ")
    .replaceAll("ß", "ss");

function excerpt(text: string, { start, end }: { start: number; end: number }): string {
  const from = Math.max(0, start - AROUND);
  const to = Math.min(end, start + MOST_SHOWN) + AROUND;
  const shown = text.slice(from, to).replace(BLANKS, " ").trim();
  return `${from > 0 ? "…" : ""}${shown}${to < text.length ? "…" : ""}`;
}

const nothingIsAsked = () =>
  new ContextEngineError("REQUEST_INVALID", "Nothing is looked for; say which words.");
