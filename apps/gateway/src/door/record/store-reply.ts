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
  { reply: { message, error }, durationMs }: Pick<EndedTurn, "reply" | "durationMs">,
): Promise<string[]> {
  const { match, event, gone, began } = turn;
  if (match.kind === "turn" && error !== undefined && endedHere(gone) !== undefined)
    return live.appendPart({ ...message, stopReason: "aborted", errorMessage: error.message });
  const isKept = match.kind === "turn" && error === undefined && message.content.length > 0;
  if (!isKept) return [];
  if (isAskedAgain(turn, live)) await live.setReplyBeside();
  const ids = await live.appendReply(message);
  const entryId = ids.at(-1);
  if (entryId !== undefined)
    live.lastReply = { entryId, end: event.end, at: began + durationMs, gone };
  return ids;
}

/** The same request was answered before, and whoever asked went away or asked again. */
function isAskedAgain({ event, began }: DoorTurn, { lastReply, leafId }: LiveSession): boolean {
  if (lastReply === undefined || lastReply.entryId !== leafId) return false;
  return lastReply.end === event.end && (lastReply.gone.aborted || lastReply.at <= began);
}

/** By whatever of it the client will send back. */
export const storedReply = (event: ReplyEvent, entries: readonly string[]): StoredMessage[] =>
  entries.length === 0 ? [] : tokensOfReply(event).map((token) => ({ token, hash: null, entries }));
