// Finds the sentence that best answers a question, by shared informative words.
import { isQuestion, type Shown, splitSentences } from "./sentences.ts";
import { foldedWords, isInformative, type Term } from "./words.ts";

export interface Match {
  origin: string;
  sentence: string;
  /** Words of the question that it holds, its day included. */
  found: readonly Term[];
  /** Share of the question's information that the sentence holds, 0–1. */
  coverage: number;
}

/** A sentence that shares words with a question. */
export interface Candidate {
  origin: string;
  sentence: string;
  found: readonly Term[];
}

/**
 * The best sentence, or undefined when none shares a word. Words that few sentences hold weigh more
 * (IDF). A question, and a sentence that adds no word to the question, answer nothing. Of equals
 * the newest wins. Only of those that `accepts` takes, where it is given. Linear in the text.
 */
export function bestMatch(
  terms: readonly Term[],
  shown: readonly Shown[],
  accepts: (candidate: Candidate) => boolean = () => true,
): Match | undefined {
  const candidates = shown.flatMap((source) => candidatesIn(source, terms)).filter(accepts);
  const frequency = new Map<Term, number>();
  for (const { found } of candidates)
    for (const term of found) frequency.set(term, (frequency.get(term) ?? 0) + 1);
  const weight = new Map(
    terms.map((term) => [term, Math.log(1 + candidates.length / (1 + (frequency.get(term) ?? 0)))]),
  );
  const total = sum(terms, weight);
  let best: Match | undefined;
  for (const { origin, sentence, found } of candidates) {
    const coverage = sum(found, weight) / total;
    if (best === undefined || coverage >= best.coverage)
      best = { origin, sentence, found, coverage };
  }
  return best;
}

function candidatesIn({ origin, text, day }: Shown, terms: readonly Term[]): Candidate[] {
  const lower = text.toLowerCase();
  // Most messages hold none of the words: one native search each settles that.
  const possible = terms.filter((term) => lower.includes(term.text));
  if (possible.length === 0) return [];
  const days = terms.filter((term) => term.text === day);
  return splitSentences(text).flatMap((sentence) => {
    if (isQuestion(sentence)) return [];
    const folded = sentence.toLowerCase();
    if (!possible.some((term) => folded.includes(term.text))) return [];
    const words = foldedWords(sentence);
    const found = possible.filter((term) =>
      term.wholeWord ? words.has(term.text) : folded.includes(term.text),
    );
    return found.length > 0 && addsSomething(words, found)
      ? [{ origin, sentence, found: [...found, ...days] }]
      : [];
  });
}

function addsSomething(words: ReadonlySet<string>, found: readonly Term[]): boolean {
  if (found.some(({ wholeWord }) => !wholeWord)) return true;
  for (const word of words)
    if (isInformative(word) && !found.some(({ text }) => text === word)) return true;
  return false;
}

function sum(terms: readonly Term[], weight: ReadonlyMap<Term, number>): number {
  return terms.reduce((total, term) => total + (weight.get(term) ?? 0), 0);
}
