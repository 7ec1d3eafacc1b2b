// Decides behind which message each summary of lossless-claw stands, and which tell of one.
import type { ClawEdges } from "../../store/lossless-claw/source.ts";

/**
 * Pure. By summary: the last of the messages that it was made of, itself or by those below it. Of
 * one that is not there nobody knows. `messages`: ids of messages, oldest first.
 */
export function lastMessages(
  edges: ClawEdges,
  messages: readonly number[],
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  // The latest first: whoever is met by it has none later.
  for (const message of messages.toReversed())
    for (const summary of above(edges, edges.aboveMessages.get(message) ?? [], found))
      found.set(summary, message);
  return found;
}

/** Pure. Every summary that was made of one of these messages, itself or by those below it. */
export const madeOf = (edges: ClawEdges, messages: ReadonlySet<number>): ReadonlySet<string> =>
  above(
    edges,
    [...messages].flatMap((id) => edges.aboveMessages.get(id) ?? []),
    new Map(),
  );

/**
 * These and all above them, each once, however many ways lead there, or in a circle; without those
 * that are `known`, as then what is above them is known, too.
 */
function above(
  { aboveSummaries }: ClawEdges,
  summaries: readonly string[],
  known: ReadonlyMap<string, unknown>,
): ReadonlySet<string> {
  const found = new Set(summaries.filter((each) => !known.has(each)));
  // What is added to a set while it is gone through is met, too.
  for (const each of found)
    for (const next of aboveSummaries.get(each) ?? []) if (!known.has(next)) found.add(next);
  return found;
}
