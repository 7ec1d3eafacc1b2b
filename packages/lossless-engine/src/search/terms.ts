// What a ranked search looks for, from the words of a query.
import { composedLower, folded } from "../messages/spelling.ts";
import { unpartedIn } from "../store/word-text.ts";
import { isCommon } from "./common-words.ts";
import { otherForms } from "./irregular.ts";
import { type Span, timesIn } from "./times.ts";

/** One thing that is looked for. */
export interface SearchTerm {
  /** As it stands in the query, lower case. */
  readonly word: string;
  /** Stands in a text that has the word, in whatever form; without case and accents. */
  readonly stem: string;
  /**
   * "time": when it was said; "name": text as it stands, such as a path or two words; "piece": two
   * characters of a text without spaces.
   */
  readonly kind: "word" | "name" | "time" | "piece";
  /** True: only a part of a longer name of the query. */
  readonly isPart: boolean;
  /** Of a time. */
  readonly span?: Span;
}

const MOST_TERMS = 32;
const WORD = /[\p{L}\p{M}\p{N}_]+(?:[-./:@\\][\p{L}\p{M}\p{N}_]+)*/gu;
/** Marks belong to the letter before them: lower case "İ" is one with a mark. */
const PARTS = /[^\p{L}\p{M}\p{N}\p{Co}]+/u;
const LEAST_PART = 3;
/** "Mara's", and what is left of "doesn't". */
const APOSTROPHE = /['’](?:s|t|re|ve|ll|d|m)?\b/g;

/** Each once, in the order of the query. `now`: what a time without a year is read by, ms. */
export function termsOf(query: string, now: number): SearchTerm[] {
  const terms = new Map<string, SearchTerm>();
  const add = (found: SearchTerm) => {
    const term = { ...found, stem: folded(found.stem) };
    if (!terms.has(term.stem)) terms.set(term.stem, term);
  };
  let lower = composedLower(query).replace(APOSTROPHE, " ");
  for (const { start, end, span } of timesIn(lower, now)) {
    const word = lower.slice(start, end);
    add({ word, stem: word, kind: "time", isPart: false, span });
    lower = `${lower.slice(0, start)}${" ".repeat(end - start)}${lower.slice(end)}`;
  }
  const { pieces, rest } = unpartedIn(lower);
  const words = telling([...rest.matchAll(WORD)]);
  for (const [word] of words) {
    const parts = word.split(PARTS).filter((part) => part !== "");
    const kind = parts.length > 1 ? "name" : "word";
    add({ word, stem: kind === "word" ? stemOf(word) : word, kind, isPart: false });
    for (const other of otherForms(word)) add({ word: other, stem: other, kind, isPart: false });
    if (kind === "name")
      for (const part of parts.filter(({ length }) => length >= LEAST_PART))
        add({ word: part, stem: stemOf(part), kind: "word", isPart: true });
  }
  for (const piece of pieces) add({ word: piece, stem: piece, kind: "piece", isPart: false });
  // A name of two words is no text in which both stand somewhere.
  for (const [at, { 0: word, index }] of words.entries()) {
    const next = words[at + 1];
    if (next?.index !== index + word.length + 1) continue;
    const stem = `${word} ${stemOf(next[0])}`;
    add({ word: stem, stem, kind: "name", isPart: false });
  }
  const name = composedLower(query.trim());
  if (isNameWithSigns(name)) add({ word: name, stem: name, kind: "name", isPart: false });
  return [...terms.values()].slice(0, MOST_TERMS);
}

/** "./src/", "/push" and ".env": one name that begins or ends with no letter. */
const isNameWithSigns = (name: string) =>
  !/\s/.test(name) && /[\p{L}\p{N}]/u.test(name) && /^[./~@\\]|[/\\]$/.test(name);

/** Without the words of asking; all of them where there are no others. */
function telling(words: RegExpExecArray[]): RegExpExecArray[] {
  const rest = words.filter(([word]) => !isCommon(word));
  return rest.length === 0 ? words : rest;
}

/** Singular and plural, "move" and "moved" begin alike. English only. */
function stemOf(word: string): string {
  if (word.length < 5 || !/^[a-z]+$/.test(word)) return word;
  const singular = word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
  const stem = singular.replace(/(?<=...)(?:ing|ed)$/, "");
  return stem.length > 3 ? stem.replace(/(?:e|y|ie)$/, "") : stem;
}
