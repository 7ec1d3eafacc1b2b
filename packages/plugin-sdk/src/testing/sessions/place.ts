// Which message of a history each message of a view is.
import type { AgentMessage } from "../../contract/message.ts";
import { messageId } from "../../transcript/message-id.ts";
import { textOf } from "../../transcript/text.ts";
import { toolCallsOf } from "../../transcript/tool-pairs.ts";
import { hasWordsOf } from "./content.ts";

/**
 * Indexes in `given` of what `shown` shows, in its order; undefined = the engine's own words. Ids
 * decide; without one the words do, and each given message is taken once, the next one first.
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
  let next = 0;
  return places.map((place, at) => {
    if (place !== undefined) {
      next = place + 1;
      return place;
    }
    if (messageId(shown[at]!) !== undefined) return undefined;
    const message = shown[at]!;
    const among = { given, taken };
    const found =
      find(among, next, (one) => hasWordsOf(message, one)) ??
      find(among, 0, (one) => hasWordsOf(message, one)) ??
      find(among, next, (one) => isOfCalls(message, one)) ??
      find(among, next, (one) => hasWordsOf(message, one, true)) ??
      find(among, next, (one) => beginsAlike(message, one));
    if (found !== undefined) {
      taken.add(found);
      next = found + 1;
    }
    return found;
  });
}

function find(
  { given, taken }: { given: readonly AgentMessage[]; taken: ReadonlySet<number> },
  from: number,
  is: (message: AgentMessage) => boolean,
): number | undefined {
  for (let index = from; index < given.length; index++)
    if (!taken.has(index) && is(given[index]!)) return index;
  return undefined;
}

/** The same, cut: what is left of it is its beginning, which no other message has. */
function beginsAlike(a: AgentMessage, b: AgentMessage): boolean {
  if (a.role !== b.role || a.role === "toolResult") return false;
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
