// Decides what of a session is shown that happened while its chat heard nothing.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { foldChat } from "../../conversation/chat-view.ts";
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
