// Which message of a history each message of a view is.
import type { AgentMessage } from "../../contract/message.ts";
import { messageId } from "../../transcript/message-id.ts";
import { textOf } from "../../transcript/text.ts";
import { toolCallsOf } from "../../transcript/tool-pairs.ts";
import { hasWordsOf } from "./content.ts";

/**
 * Indexes in `given` of what `shown` shows, in its order; undefined = the engine's own words. Ids
 * decide; without one the words do, and each given message is taken once, from the newest back: of
 * two that say the same a view that shows one shows the newer.
 */
export function placesOf(
  shown: readonly AgentMessage[],
  given: readonly AgentMessage[],
): (number | undefined)[] {
  const byId = new Map<string, number>();
  for (const [index, message] of given.entries()) {
    const id = messageId(message);
    if (id !== undefined && !byId.has(id)) byId.set(id, index);
  }
  const places = shown.map((message) => {
    const id = messageId(message);
    return id === undefined ? undefined : byId.get(id);
  });
  const taken = new Set(places.filter((place) => place !== undefined));
  let next = given.length;
  for (let at = shown.length - 1; at >= 0; at--) {
    const message = shown[at]!;
    if (places[at] === undefined && messageId(message) === undefined) {
      const among = { given, taken };
      // Of two that say nothing one may have thought: times tell them apart, where there are any.
      const isOfTime = (one: AgentMessage) =>
        message.timestamp !== undefined &&
        one.timestamp === message.timestamp &&
        hasWordsOf(message, one);
      const found =
        find(among, next, isOfTime) ??
        find(among, next, (one) => hasWordsOf(message, one)) ??
        find(among, given.length, (one) => hasWordsOf(message, one)) ??
        find(among, next, (one) => isOfCalls(message, one)) ??
        find(among, next, (one) => hasWordsOf(message, one, true)) ??
        find(among, next, (one) => beginsAlike(message, one));
      if (found !== undefined) taken.add(found);
      places[at] = found;
    }
    next = places[at] ?? next;
  }
  return places;
}

function find(
  { given, taken }: { given: readonly AgentMessage[]; taken: ReadonlySet<number> },
  before: number,
  is: (message: AgentMessage) => boolean,
): number | undefined {
  for (let index = before - 1; index >= 0; index--)
    if (!taken.has(index) && is(given[index]!)) return index;
  return undefined;
}

/** The same, cut: what is left of it is its beginning, which no other message has. */
function beginsAlike(a: AgentMessage, b: AgentMessage): boolean {
  if (a.role !== b.role || (a.role !== "user" && a.role !== "assistant")) return false;
  const [shown, said] = [textOf(a).trim(), textOf(b).trim()];
  return said.length >= BEGINNING_CHARS && shown.startsWith(said.slice(0, BEGINNING_CHARS));
}

/** As much of a text of the kit as has its mark in it. */
const BEGINNING_CHARS = 40;

/** What hosts go by where words were cut: the same calls, or the result of the same call. */
function isOfCalls(a: AgentMessage, b: AgentMessage): boolean {
  const [callsA, callsB] = [callIds(a), callIds(b)];
  return a.role === b.role && callsA !== "" && callsA === callsB;
}

const callIds = (message: AgentMessage): string =>
  message.role === "toolResult"
    ? message.toolCallId
    : toolCallsOf(message, 0)
        .map(({ id }) => id)
        .join(" ");
