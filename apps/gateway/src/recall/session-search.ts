// Searches everything a session ever said, called or printed, in pieces.
import { inSlices } from "@clew/plugin-sdk/host";
import {
  type Candidate,
  chooseCandidates,
  findTerms,
  type Hit,
  orderHits,
  readHit,
} from "./rank.ts";
import { minuteOf, quoteRecord, recordTextOf } from "./record-text.ts";
import type { SessionMessages } from "./session-messages.ts";
import { planTerms, type SearchTerms } from "./terms.ts";

export interface SearchRequest {
  messages: SessionMessages;
  query: string;
  /** Counted from 1. */
  page: number;
  /** Only messages with a smaller number. Absent: all. */
  before?: number | undefined;
  signal: AbortSignal;
}

/** Messages per piece that is read in order; the newest pieces first. */
const BLOCK = 512;
/** Characters one search goes through at most. */
const MOST_CHARS = 32_000_000;
const HITS_PER_PAGE = 4;

/** Text for a model: quotations with ids, best first. */
export async function searchSession(request: SearchRequest): Promise<string> {
  const { messages, query, page, signal } = request;
  const terms = planTerms(query);
  const { candidates, reached } = await scan(request, terms);
  const choice = chooseCandidates(terms, candidates);
  const read: Hit<number>[] = [];
  await inSlices(
    choice.chosen,
    (one) => {
      read.push(readHit(terms, choice, one, recordTextOf(messages[one.source]!.message)));
    },
    { signal },
  );
  const hits = orderHits(read);
  const first = (page - 1) * HITS_PER_PAGE;
  signal.throwIfAborted();
  const shown = hits.slice(first, first + HITS_PER_PAGE);
  const rest = Math.max(0, hits.length - first - shown.length);
  const notes = [
    ...(shown.length === 0 ? [`Nothing ${page > 1 ? "more " : ""}was found.`] : []),
    ...(rest > 0 ? [`${rest} more: page ${page + 1}.`] : []),
    ...(reached > 1 ? [`Older messages: before ${reached}.`] : []),
  ];
  return [
    ...shown.map(({ source, passage }) => quoteRecord(messages, source, passage)),
    notes.join(" "),
  ]
    .filter((part) => part !== "")
    .join("\n");
}

/** Newest pieces first, each in the order in which it stands in the file. */
async function scan(
  { messages, before = Number.POSITIVE_INFINITY, signal }: SearchRequest,
  terms: SearchTerms,
): Promise<{ candidates: Candidate<number>[]; reached: number }> {
  // What is asked is no answer.
  const asked = messages.findLastIndex(({ message }) => message.role === "user");
  const blocks: Candidate<number>[][] = [];
  let chars = 0;
  let end = Math.min(messages.length, before - 1);
  while (end > 0 && chars < MOST_CHARS) {
    const found: Candidate<number>[] = [];
    const start = Math.max(0, end - BLOCK);
    let at = start;
    await inSlices(
      messages.slice(start, end),
      (entry) => {
        const place = at++;
        if (place === asked) return;
        const text = searchable(entry);
        chars += text.length;
        const candidate = findTerms(terms, place, text);
        if (candidate !== undefined) found.push(candidate);
      },
      { signal },
    );
    blocks.push(found);
    end = start;
  }
  return { candidates: blocks.reverse().flat(), reached: end + 1 };
}

/** With its day, so that a search may name it. */
function searchable({ message, timestamp }: SessionMessages[number]): string {
  const text = recordTextOf(message);
  return text === "" ? "" : `${text}\n${minuteOf(message.timestamp, timestamp)}`;
}
