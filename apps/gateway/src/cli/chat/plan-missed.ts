// Decides what of a session is shown that happened while its chat heard nothing.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { foldChat } from "../../conversation/chat-view.ts";
import type { GatewayEvent } from "../../events/shapes.ts";
import { textIn } from "../../text/shown-text.ts";
import { type Piece, piecesOf } from "./piece.ts";

/**
 * Pure. `seen`: the newest entry that was shown; undefined = there was none. `entries`: the newest
 * of the session. Marks between messages were told, or stand in the session.
 */
export function planMissed(
  entries: readonly TranscriptEntry[],
  seen: string | undefined,
): { pieces: readonly Piece[]; seen: string | undefined } {
  const from = seen === undefined ? 0 : entries.findIndex(({ id }) => id === seen) + 1;
  // Nobody knows where what was shown ended: more happened than was read, or it was undone.
  const isLost = seen !== undefined && from === 0;
  const missed = isLost ? [] : entries.slice(from).filter(({ type }) => type === "message");
  const pieces: Piece[] = isLost
    ? [{ kind: "note", text: "(more happened meanwhile; Ctrl-O shows the session)" }]
    : foldChat(missed).flatMap(piecesOf);
  return { pieces, seen: entries.at(-1)?.id ?? seen };
}

/** Pure. Of running turns: what they have written, unless it was stored before it was read. */
export function withoutStored(
  event: GatewayEvent,
  entries: readonly TranscriptEntry[],
): GatewayEvent {
  if (event.type !== "hello" && event.type !== "reset") return event;
  const last = entries.at(-1);
  const stored =
    last?.type === "message" && last.message.role === "assistant"
      ? textIn(last.message.content)
      : "";
  const running = event.running.map((turn) =>
    stored.startsWith(turn.text) ? { ...turn, text: "" } : turn,
  );
  return { ...event, running };
}
