// Searches everything a session ever said, called or printed, in pieces.
import { type Steps, stepsInSlices } from "@clew/plugin-sdk/host";
import { roleIn } from "@clew/plugin-sdk/transcript";
import {
  type Candidate,
  chooseCandidates,
  findTermSteps,
  type Hit,
  orderHits,
  readHitSteps,
} from "./rank.ts";
import { minuteOf, quoteRecord, recordTextOf } from "./record-text.ts";
import type { SessionMessages } from "./session-messages.ts";
import { composed, planTerms, type SearchTerms } from "./terms.ts";

export interface SearchRequest {
  messages: SessionMessages;
  query: string;
  /** Counted from 1. */
  page: number;
  /** Only messages with a smaller number. Absent: all. */
  before?: number | undefined;
  /** Of quotations; the best one is shown all the same. Absent: as many as a page has. */
  mostChars?: number | undefined;
  signal: AbortSignal;
}

/** Messages per piece that is read in order; the newest pieces first. */
const BLOCK = 512;
/** Characters after which a search ends that has found what holds all it looks for. */
const ENOUGH_CHARS = 32_000_000;
/** And at most. */
const MOST_CHARS = 512_000_000;
const HITS_PER_PAGE = 4;

/** Text for a model: quotations with ids, best first. */
export async function searchSession(request: SearchRequest): Promise<string> {
  const { messages, query, page, signal } = request;
  const terms = planTerms(query);
  const { hits, reached } = await stepsInSlices(hitSteps(request, terms), { signal });
  const first = (page - 1) * HITS_PER_PAGE;
  signal.throwIfAborted();
  const quoted = hits
    .slice(first, first + HITS_PER_PAGE)
    .map(({ source, passage }) => quoteRecord(messages, source, passage));
  const shown = thatFit(quoted, request.mostChars ?? Number.POSITIVE_INFINITY);
  const leftOff = quoted.length - shown.length;
  const rest = Math.max(0, hits.length - first - quoted.length);
  const notes = [
    ...(shown.length === 0 ? [`Nothing ${page > 1 ? "more " : ""}was found.`] : []),
    ...(leftOff > 0 ? [`No room for ${leftOff} more; look for less at once to see them.`] : []),
    ...(rest > 0 ? [`${rest} more: page ${page + 1}.`] : []),
    ...(reached > 1 ? [`Older messages: before ${reached}.`] : []),
  ];
  return [...shown, notes.join(" ")].filter((part) => part !== "").join("\n");
}

function thatFit(quoted: readonly string[], mostChars: number): string[] {
  let chars = 0;
  return quoted.filter((quote, at) => {
    chars += quote.length;
    return at === 0 || chars <= mostChars;
  });
}

/** All hits, best first, and the oldest message that was looked at. */
function* hitSteps(
  request: SearchRequest,
  terms: SearchTerms,
): Steps<{ hits: Hit<number>[]; reached: number }> {
  const { candidates, reached } = yield* scanSteps(request, terms);
  const choice = chooseCandidates(terms, candidates);
  const hits: Hit<number>[] = [];
  for (const one of choice.chosen) {
    yield;
    const text = composed(recordTextOf(request.messages[one.source]!.message));
    hits.push(yield* readHitSteps(terms, choice, one, text));
  }
  return { hits: orderHits(hits), reached };
}

/** Newest pieces first, each in the order in which it stands in the file. */
function* scanSteps(
  { messages, before = Number.POSITIVE_INFINITY }: SearchRequest,
  terms: SearchTerms,
): Steps<{ candidates: Candidate<number>[]; reached: number }> {
  // What is asked is no answer.
  const asked = messages.findLastIndex((entry) => roleIn(entry) === "user");
  const blocks: Candidate<number>[][] = [];
  let chars = 0;
  let isFound = false;
  const all = 2 ** terms.terms.length - 1;
  let end = Math.min(messages.length, before - 1);
  while (end > 0 && chars < (isFound ? ENOUGH_CHARS : MOST_CHARS)) {
    const found: Candidate<number>[] = [];
    const start = Math.max(0, end - BLOCK);
    for (let place = start; place < end; place++) {
      yield;
      if (place === asked) continue;
      const texts = searchable(messages[place]!);
      for (const text of texts) chars += text.length;
      const candidate = yield* findTermSteps(terms, place, texts);
      if (candidate !== undefined) found.push(candidate);
    }
    isFound ||= found.some((one) => one.hasLiteral || one.terms === all);
    blocks.push(found);
    end = start;
  }
  return { candidates: blocks.reverse().flat(), reached: end + 1 };
}

/** With its day, so that a search may name it. */
function searchable({ message, timestamp }: SessionMessages[number]): string[] {
  const text = composed(recordTextOf(message));
  return text === "" ? [] : [text, minuteOf(message.timestamp, timestamp)];
}
