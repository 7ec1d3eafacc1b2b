// Decides what of a reply is stored, and stores it.
import { endedHere } from "../call/under-way.ts";
import type { ReplyEvent } from "../match/known-requests.ts";
import { tokensOfReply } from "../match/sketch.ts";
import type { StoredMessage } from "../memory/journal-lines.ts";
import type { DoorTurn } from "../turn/door-turn.ts";
import type { EndedTurn } from "./ended-turn.ts";
import type { LiveSession } from "./live-session.ts";

/**
 * What is not whole is stored as its client brings it back, if it does; what was ended here stays
 * until then.
 */
export async function storeReply(
  turn: DoorTurn,
  live: LiveSession,
  { reply: { message, error } }: Pick<EndedTurn, "reply">,
): Promise<string[]> {
  const { match, gone } = turn;
  if (match.kind === "turn" && error !== undefined && endedHere(gone) !== undefined)
    return live.appendPart({ ...message, stopReason: "aborted", errorMessage: error.message });
  const isKept = match.kind === "turn" && error === undefined && message.content.length > 0;
  if (!isKept) return [];
  if (isDropped(turn, live)) return live.appendBeside(message);
  if (isAskedAgain(turn, live)) await live.setReplyBeside();
  return live.appendReply(message);
}

/** The same request has another reply, behind which nothing has come. */
function isAskedAgain({ event }: DoorTurn, live: LiveSession): boolean {
  const newest = live.newestReply();
  return newest !== undefined && live.given.isTo(event.end, newest.id);
}

/** Its client went on with another reply when this one was asked for already. */
function isDropped({ event, began }: DoorTurn, live: LiveSession): boolean {
  const goneOnAt = live.given.goneOnAt(event.end);
  return goneOnAt !== undefined && began <= goneOnAt;
}

/** By whatever of it the client will send back. */
export const storedReply = (event: ReplyEvent, entries: readonly string[]): StoredMessage[] =>
  entries.length === 0 ? [] : tokensOfReply(event).map((token) => ({ token, hash: null, entries }));
