// Cuts a sentence that is too long to quote so that what binds in it is quoted.
import type { Steps } from "../slices.ts";
import { forceSteps, isBinding } from "./cues.ts";

/** Where a clause may end. */
const MARKS = /[,;:.!?…–—]+\s+|[，、；：。！？]/gu;
/** A clause without marks is cut behind the word that ends by here. */
const MAX_CLAUSE = 60;
/** What binds may begin in one such piece and end in the next. */
const OVERLAP = 40;

/**
 * `sentences`, and for each that is longer than `maxChars` what stands before its first clause that
 * binds, and each such clause with a short one before it and as many behind it as there is room
 * for. One in which nothing binds stays as it is.
 */
export function* quotableSteps(sentences: readonly string[], maxChars: number): Steps<string[]> {
  const quotable: string[] = [];
  for (const sentence of sentences)
    if (sentence.length <= maxChars) quotable.push(sentence);
    else quotable.push(...(yield* partSteps(sentence, maxChars)));
  return quotable;
}

function* partSteps(sentence: string, maxChars: number): Steps<string[]> {
  const clauses = clausesOf(sentence);
  const parts: string[] = [];
  let end = 0;
  for (let index = 0; index < clauses.length; index++) {
    const clause = clauses[index]!;
    const read = sentence.slice(clause.from, clause.to + (clause.isCut ? OVERLAP : 0));
    if (clause.from < end || !isBinding(yield* forceSteps(read))) continue;
    const before = clauses[index - 1];
    const start =
      before !== undefined && before.from >= end && before.to - before.from <= MAX_CLAUSE
        ? before.from
        : clause.from;
    if (parts.length === 0 && start > 0) parts.push(sentence.slice(0, start));
    end = clause.to;
    for (let next = index + 1; (clauses[next]?.to ?? Infinity) <= start + maxChars; next++)
      end = clauses[next]!.to;
    parts.push(sentence.slice(start, end));
  }
  return parts.length === 0 ? [sentence] : parts.map((part) => part.trim());
}

interface Clause {
  from: number;
  to: number;
  /** It ends where no mark is. */
  isCut: boolean;
}

/** They follow each other without a gap. */
function clausesOf(sentence: string): Clause[] {
  const clauses: Clause[] = [];
  let from = 0;
  const cutTo = (end: number) => {
    while (end - from > MAX_CLAUSE) {
      const blank = sentence.slice(from, from + MAX_CLAUSE).lastIndexOf(" ");
      const to = blank > 0 ? from + blank + 1 : wholeCharacters(sentence, from + MAX_CLAUSE);
      clauses.push({ from, to, isCut: true });
      from = to;
    }
    if (end > from) clauses.push({ from, to: end, isCut: false });
    from = end;
  };
  for (const { 0: marks, index } of sentence.matchAll(MARKS)) cutTo(index + marks.length);
  cutTo(sentence.length);
  return clauses;
}

/** `end`, or one less where it would split a surrogate pair. */
const wholeCharacters = (text: string, end: number) =>
  (text.charCodeAt(end) & 0xfc00) === 0xdc00 ? end - 1 : end;
