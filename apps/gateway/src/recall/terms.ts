// What a search looks for, from the words of a query.

/** One word, two that stand side by side, or in scripts without gaps a pair of characters. */
export interface Term {
  /** Lower case; stands anywhere in a text that has the word, in whatever form. */
  stem: string;
  /** Of a word that is only a part of a longer one in the query. */
  isPart: boolean;
}

export interface SearchTerms {
  /** The whole query as it is. */
  exact: string;
  /** The whole query, lower case. */
  literal: string;
  terms: readonly Term[];
}

const MAX_TERMS = 24;
const GAPLESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu;
const WORD = /[\p{L}\p{M}\p{N}_]+(?:[-./:@\\][\p{L}\p{M}\p{N}_]+)*/gu;
const MARK = /\p{M}/u;
const JOINT = /[-./:@\\]/;

/** Accents and their letters as one sign: files of some systems write them as two. */
export const composed = (text: string): string => (MARK.test(text) ? text.normalize("NFC") : text);

/** Pure. */
export function planTerms(query: string): SearchTerms {
  const exact = composed(query.trim());
  const literal = exact.toLowerCase();
  const terms = new Map<string, Term>();
  const add = (stem: string, isPart: boolean) => {
    if (!terms.has(stem)) terms.set(stem, { stem, isPart });
  };
  const gapped = literal.replace(GAPLESS, (run) => {
    const characters = [...run];
    if (characters.length === 1) add(run, false);
    for (let at = 1; at < characters.length; at++)
      add(`${characters[at - 1]}${characters[at]}`, false);
    return " ";
  });
  const words = [...gapped.matchAll(WORD)];
  for (const [word] of words) {
    add(stemOf(word), false);
    if (JOINT.test(word))
      for (const part of word.split(JOINT)) if (part.length > 2) add(stemOf(part), true);
  }
  // A name of two words is no text in which both stand somewhere.
  for (const [at, { 0: word, index }] of words.entries()) {
    const next = words[at + 1];
    if (next?.index === index + word.length + 1) add(`${word} ${stemOf(next[0])}`, false);
  }
  return { exact, literal, terms: [...terms.values()].slice(0, MAX_TERMS) };
}

/** Singular and plural, `move` and `moved` begin alike. English only. */
function stemOf(word: string): string {
  if (word.length < 5 || !/^[a-z]+$/.test(word)) return word;
  const singular = word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
  const stem = singular.replace(/(?<=...)(?:ing|ed)$/, "");
  return stem.length > 3 && stem.endsWith("e") ? stem.slice(0, -1) : stem;
}
