// Which passages of a session answer a search best.
import type { Steps } from "@clew/plugin-sdk/host";
import type { SearchTerms, Term } from "./terms.ts";

/** A message in which something was found. */
export interface Candidate<Source> {
  source: Source;
  /** One bit per term. */
  terms: number;
  /** True: the query stands in it as it is. */
  hasLiteral: boolean;
}

/** One of the messages that are read again for their best passage. */
export interface Chosen<Source> {
  source: Source;
  /** Place in time. */
  order: number;
  /** What all that was found in it counts. */
  around: number;
}

/** What a search goes on with. */
export interface Choice<Source> {
  chosen: readonly Chosen<Source>[];
  /** Of each term. */
  weights: readonly number[];
}

/** The passage that is shown of a message. */
export interface Hit<Source> {
  source: Source;
  passage: string;
  score: number;
  /** Place in time. */
  order: number;
}

/** Messages whose passages are compared; by their terms alone the others are worse. */
const MOST_READ = 300;
const PASSAGE_CHARS = 260;
/** What a term counts that does not begin a word, or is a part of what was asked for. */
const LESS = 0.5;
/** What the whole of a message adds to its best passage. */
const AROUND = 0.3;
/** How far the words of a long line say less than those of a short one, as in BM25. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;
/** What a question counts: it has the words, and not what they ask for. */
const ASKING = 0.5;
const QUESTION = /[?？؟]\P{L}*$/u;

/** Characters looked at between two steps. */
const PIECE_CHARS = 2 ** 17;

/** Undefined: none of the terms stands in one of `texts`. */
export function* findTermSteps<Source>(
  { literal, terms }: SearchTerms,
  source: Source,
  texts: readonly string[],
): Steps<Candidate<Source> | undefined> {
  // What stands across the end of a piece stands whole in what is looked at with it.
  const more = Math.max(literal.length, ...terms.map(({ stem }) => stem.length));
  let found = 0;
  let hasLiteral = false;
  for (const text of texts)
    for (let from = 0; from < text.length; from += PIECE_CHARS) {
      if (from > 0) yield;
      const lower = text.slice(from, from + PIECE_CHARS + more).toLowerCase();
      for (const [at, { stem }] of terms.entries())
        if ((found & (1 << at)) === 0 && lower.includes(stem)) found |= 1 << at;
      hasLiteral ||= literal !== "" && lower.includes(literal);
    }
  return found === 0 && !hasLiteral ? undefined : { source, terms: found, hasLiteral };
}

/**
 * The messages that hold most, of equals the newest. Words that few messages hold weigh more, and
 * the query as it is more than all its words. `candidates` are in order of time. Linear.
 */
export function chooseCandidates<Source>(
  { terms }: SearchTerms,
  candidates: readonly Candidate<Source>[],
): Choice<Source> {
  const weights = weigh(terms, candidates);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  // There are few ways to hold some of the terms.
  const alike = new Map<number, number[]>();
  for (const [order, { terms: found, hasLiteral }] of candidates.entries()) {
    const key = 2 * found + (hasLiteral ? 1 : 0);
    const others = alike.get(key);
    if (others === undefined) alike.set(key, [order]);
    else others.push(order);
  }
  const chosen = [...alike]
    .map(([key, orders]) => ({
      orders,
      around: (key % 2) * 2 * total + sumOf(Math.floor(key / 2), weights),
    }))
    .sort((a, b) => b.around - a.around)
    .flatMap(({ orders, around }) =>
      orders
        .slice(-MOST_READ)
        .reverse()
        .map((order) => ({ source: candidates[order]!.source, order, around })),
    );
  return { chosen: chosen.slice(0, MOST_READ), weights };
}

function weigh(terms: readonly Term[], candidates: readonly Candidate<unknown>[]): number[] {
  const holders = terms.map(() => 0);
  for (const { terms: found } of candidates)
    for (let at = 0; at < holders.length; at++) if (found & (1 << at)) holders[at]!++;
  return terms.map(
    ({ isPart }, at) =>
      (isPart ? LESS : 1) * Math.log(1 + candidates.length / (0.5 + holders[at]!)),
  );
}

/** The best passage of a chosen message, whose text this is. */
export function* readHitSteps<Source>(
  query: SearchTerms,
  { weights }: Choice<Source>,
  { source, order, around }: Chosen<Source>,
  text: string,
): Steps<Hit<Source>> {
  const { passage, score } = yield* passageSteps(query, weights, text);
  return { source, order, passage, score: score + AROUND * around };
}

/** Best first, of equals the newest; the same passage once. */
export function orderHits<Source>(hits: readonly Hit<Source>[]): Hit<Source>[] {
  const shown = new Set<string>();
  return hits
    .toSorted((a, b) => b.score - a.score || b.order - a.order)
    .filter(({ passage }) => !shown.has(passage) && shown.add(passage));
}

const sumOf = (found: number, weights: readonly number[]) =>
  weights.reduce((sum, weight, at) => sum + (found & (1 << at) ? weight : 0), 0);

/** The line that holds most, with what stands around it. */
function* passageSteps(
  { literal, exact, terms }: SearchTerms,
  weights: readonly number[],
  text: string,
): Steps<{ passage: string; score: number }> {
  const total = weights.reduce((sum, weight) => sum + weight, 0) || 1;
  let best = { start: 0, end: Math.min(text.length, PASSAGE_CHARS), score: -1 };
  for (const { start, end } of linesOf(text)) {
    yield;
    const line = text.slice(start, end).toLowerCase();
    let score = 0;
    for (const [at, { stem }] of terms.entries()) {
      const place = line.indexOf(stem);
      if (place < 0) continue;
      const beginsWord = place === 0 || !/[\p{L}\p{N}_]/u.test(line[place - 1]!);
      score += (beginsWord ? 1 : LESS) * weights[at]!;
    }
    score *= densityOf(end - start) * (QUESTION.test(line) ? ASKING : 1);
    score += (literalScore(line, literal) + isExact(text.slice(start, end), exact)) * total;
    if (score > best.score) best = { start, end, score };
  }
  return { passage: passageAround(text, best), score: best.score };
}

/** 1 for a line that fills a passage, more for a shorter one. */
const densityOf = (chars: number) =>
  (1 + SATURATION) / (1 + SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * chars) / PASSAGE_CHARS));

/** More where the query stands as a whole word, and not as a part of one. */
function literalScore(line: string, literal: string): number {
  if (literal === "") return 0;
  let best = 0;
  for (let at = line.indexOf(literal); at >= 0 && best < 1; at = line.indexOf(literal, at + 1)) {
    const around = `${line[at - 1] ?? " "}${line[at + literal.length] ?? " "}`;
    best = /[\p{L}\p{N}_]/u.test(around) ? LESS : 1;
  }
  return best;
}

/** A name that differs in its capitals only is another name. */
const isExact = (line: string, exact: string) => (literalScore(line, exact) === 1 ? LESS : 0);

/** Lines, the long ones in pieces that overlap. */
function* linesOf(text: string): Generator<{ start: number; end: number }> {
  for (let start = 0; start < text.length; ) {
    const end = endOfLine(text, start);
    for (let at = start; at === start || at + PASSAGE_CHARS / 2 < end; at += PASSAGE_CHARS / 2)
      yield { start: at, end: Math.min(end, at + PASSAGE_CHARS) };
    start = end + 1;
  }
}

/** Whole lines where there is room, else as many characters; never half of one. */
function passageAround(text: string, { start, end }: { start: number; end: number }): string {
  let [from, to] = [start, end];
  const room = () => PASSAGE_CHARS - (to - from);
  for (let grew = true; grew; ) {
    const next = to + lineBehind(text.slice(to, to + room() + 1));
    const before = from - lineBefore(text.slice(Math.max(0, from - room() - 1), from));
    grew = false;
    if (next > to && next - to <= room()) [to, grew] = [next, true];
    if (before < from && from - before <= room()) [from, grew] = [before, true];
  }
  const after = Math.min(text.length, to + Math.ceil(room() / 2));
  from = Math.max(0, from - (PASSAGE_CHARS - (after - from)));
  return text
    .slice(from, after)
    .replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "")
    .trim();
}

/** Characters up to the end of the line behind the feed that `text` begins with. */
const lineBehind = (text: string) => (text === "" ? 0 : endOfLine(text, 1));

/** Characters of the line whose feed `text` ends with. */
const lineBefore = (text: string) =>
  text === "" ? 0 : text.length - 1 - text.lastIndexOf("\n", text.length - 2);

function endOfLine(text: string, from: number): number {
  const feed = text.indexOf("\n", from);
  return feed < 0 ? text.length : feed;
}
