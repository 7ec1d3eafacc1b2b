// Finds the stretches that together are everything before a message, each message in one.
import { asFarAsPossible, patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { placeOfMessage } from "../store/recall.ts";
import type { Store } from "../store/store.ts";
import {
  type Apart,
  coverageOf,
  coverageOfConversation,
  messagesApart,
  partsOfSummary,
  requestsApart,
  spanOfMessages,
  startsOfPieces,
} from "../store/summaries.ts";
import type { DayFacts, StoredSummary } from "../store/summary-rows.ts";
import { READER } from "./facts.ts";
import { growGraph } from "./grow.ts";
import type { Stretch } from "./lines.ts";

/** How long a view waits for summaries that are missing, ms. */
const BOUND_MS = 1_000;
/** So many messages without a summary are read at once; of more only what people asked. */
const MOST_READ = 128;
/** Of those that only tell what people asked, so many are one stretch, or one of so many. */
const PIECE = 256;
const MOST_PIECES = 32;

/** Names of the messages on either side of a place, the nearest first. */
export interface Border {
  readonly before: readonly string[];
  readonly behind: readonly string[];
}

/**
 * The stretches before a place. Empty: nobody knows where it is, or nothing is before it. Summaries
 * that are missing are made first, as far as there is time.
 */
export async function pastBefore(
  store: Store,
  {
    session,
    border: { before, behind },
    signal,
  }: { session: OwnedSession; border: Border; signal?: AbortSignal | undefined },
): Promise<readonly Stretch[]> {
  const place = await patiently(() => {
    const next = placeOfMessage(store, session, behind);
    const last = next === undefined ? placeOfMessage(store, session, before) : undefined;
    return next ?? (last && { ...last, seq: last.seq + 1 });
  }, signal);
  if (place === undefined) return [];
  const { conversation, seq: end } = place;
  await asFarAsPossible(async () => {
    await growGraph(store, conversation, { boundMs: BOUND_MS, signal });
  });
  return patiently(() => stretchesBefore(store, conversation, end), signal);
}

function stretchesBefore(store: Store, conversation: number, end: number): Stretch[] {
  const { frontier, upTo } = coverageOfConversation(store, conversation);
  const known = frontier.flatMap((summary) => partsBefore(store, summary, end));
  return [...known, ...apartBefore(store, { conversation, first: upTo + 1, end })];
}

/** The stretches that are all of a session's conversation. */
export const pastOf = (
  store: Store,
  { session, signal }: { session: OwnedSession; signal?: AbortSignal | undefined },
): Promise<readonly Stretch[]> =>
  patiently(() => {
    const coverage = coverageOf(store, session);
    return coverage === undefined ? [] : stretchesBefore(store, coverage.conversation, ALL);
  }, signal);

const ALL = Number.MAX_SAFE_INTEGER;

/** A summary whole where it ends before; otherwise those of its parts that do. */
function partsBefore(store: Store, summary: StoredSummary, end: number): Stretch[] {
  if (summary.last < end) return [summary];
  if (summary.first >= end) return [];
  const { conversation, first } = summary;
  return summary.depth === 0
    ? apartBefore(store, { conversation, first, end })
    : partsOfSummary(store, summary.id).flatMap((part) => partsBefore(store, part, end));
}

/** Messages that no summary alone stands for. */
export function apartBefore(store: Store, of: Apart): Stretch[] {
  const span = spanOfMessages(store, of);
  if (span === undefined) return [];
  if (span.facts.messages <= MOST_READ) {
    const facts = READER.ofMessages(messagesApart(store, of));
    return [{ id: null, first: span.first, last: span.last, facts, words: null }];
  }
  const size = Math.max(PIECE, Math.ceil(span.facts.messages / MOST_PIECES));
  const starts = startsOfPieces(store, { ...of, size });
  return starts.flatMap((first, at) => {
    const piece = { ...of, first, end: starts[at + 1] ?? of.end };
    const part = spanOfMessages(store, piece);
    if (part === undefined) return [];
    const facts = { ...part.facts, days: askedOn(store, piece) };
    return [{ id: null, first: part.first, last: part.last, facts, words: null }];
  });
}

function askedOn(
  store: Store,
  piece: { conversation: number; first: number; end: number },
): readonly DayFacts[] {
  const { messages, count } = requestsApart(store, { ...piece, limit: MOST_READ });
  const { days } = READER.ofMessages(messages);
  const each = count / Math.max(1, messages.length);
  return days.map((day) => ({ ...day, requests: Math.round(each * day.requests) }));
}
