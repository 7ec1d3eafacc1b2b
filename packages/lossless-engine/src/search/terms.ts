// What a ranked search looks for, from the words of a query.

/** One thing that is looked for. */
export interface SearchTerm {
  /** As it stands in the query, lower case. */
  readonly word: string;
  /** Stands in a text that has the word, in whatever form. */
  readonly stem: string;
  /** "day" is when something was said; "name" is text as it stands, such as a path or two words. */
  readonly kind: "word" | "name" | "day";
  /** True: only a part of a longer name of the query. */
  readonly isPart: boolean;
}

const MOST_TERMS = 32;
const DAY = /\b\d{4}-\d\d-\d\d\b/g;
const WORD = /[\p{L}\p{M}\p{N}_]+(?:[-./:@\\][\p{L}\p{M}\p{N}_]+)*/gu;
const PARTS = /[^\p{L}\p{N}\p{Co}]+/u;
const LEAST_PART = 3;

/** Each once, in the order of the query. */
export function termsOf(query: string): SearchTerm[] {
  const terms = new Map<string, SearchTerm>();
  const add = (term: SearchTerm) => {
    if (!terms.has(term.stem)) terms.set(term.stem, term);
  };
  const lower = query.toLowerCase();
  for (const [day] of lower.matchAll(DAY))
    add({ word: day, stem: day, kind: "day", isPart: false });
  const words = [...lower.replace(DAY, " ").matchAll(WORD)];
  for (const [word] of words) {
    const parts = word.split(PARTS).filter((part) => part !== "");
    const kind = parts.length > 1 ? "name" : "word";
    add({ word, stem: kind === "word" ? stemOf(word) : word, kind, isPart: false });
    if (kind === "name")
      for (const part of parts.filter(({ length }) => length >= LEAST_PART))
        add({ word: part, stem: stemOf(part), kind: "word", isPart: true });
  }
  // A name of two words is no text in which both stand somewhere.
  for (const [at, { 0: word, index }] of words.entries()) {
    const next = words[at + 1];
    if (next?.index !== index + word.length + 1) continue;
    const stem = `${word} ${stemOf(next[0])}`;
    add({ word: stem, stem, kind: "name", isPart: false });
  }
  return [...terms.values()].slice(0, MOST_TERMS);
}

/** Singular and plural, "move" and "moved" begin alike. English only. */
function stemOf(word: string): string {
  if (word.length < 5 || !/^[a-z]+$/.test(word)) return word;
  const singular = word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
  const stem = singular.replace(/(?<=...)(?:ing|ed)$/, "");
  return stem.length > 3 ? stem.replace(/(?:e|y|ie)$/, "") : stem;
}
