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
  spanOfMessages,
} from "../store/summaries.ts";
import type { StoredSummary } from "../store/summary-rows.ts";
import { READER } from "./facts.ts";
import { growGraph } from "./grow.ts";
import type { Stretch } from "./lines.ts";

/** How long a view waits for summaries that are missing, ms. */
const BOUND_MS = 250;
/** So many messages without a summary are read at once; of more is said how many they are. */
const MOST_READ = 128;

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
  const facts =
    span.facts.messages <= MOST_READ ? READER.ofMessages(messagesApart(store, of)) : span.facts;
  return [{ id: null, first: span.first, last: span.last, facts, words: null }];
}
