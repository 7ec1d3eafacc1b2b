// Decides which of a session's last messages are shown again when a chat begins.
import { headOf } from "@clew/plugin-sdk/transcript";
import type { ChatItem } from "../../conversation/chat-view.ts";
import { type Piece, piecesOf } from "./piece.ts";
import { renderPiece } from "./render-pieces.ts";

const SHOWN_LINES = 24;
/** Of a message that does not fit. */
const BEGINNING_LINES = 3;
const BEGINNING_CHARACTERS = 200;

/**
 * Pure. As many of the newest items as fit into some lines, and at least the last; of a message
 * that it answers, at least the beginning. `isCut`: there are older ones that are not among them.
 */
export function lastPieces(items: readonly ChatItem[], isCut: boolean, columns: number): Piece[] {
  const shown: Piece[][] = [];
  let lines = 0;
  for (const item of items.toReversed()) {
    const pieces = piecesOf(item);
    lines += pieces.reduce((sum, piece) => sum + renderPiece(piece, columns).length, 0);
    if (shown.length > 0 && lines > SHOWN_LINES) {
      if (shown.length === 1 && item.kind === "person") shown.unshift([beginningOf(item)]);
      break;
    }
    shown.unshift(pieces);
  }
  const isMore = isCut || shown.length < items.length;
  const earlier: Piece[] = isMore ? [{ kind: "note", text: "(earlier messages: Ctrl-O)" }] : [];
  return [...earlier, ...shown.flat()];
}

function beginningOf({ text, images }: Extract<ChatItem, { kind: "person" }>): Piece {
  const lines = text.split("\n");
  const rest = lines.length - BEGINNING_LINES;
  const begin = lines.slice(0, BEGINNING_LINES).map((line) => {
    const head = headOf(line, BEGINNING_CHARACTERS);
    return head === line ? line : `${head}…`;
  });
  const more = rest > 0 ? [`… (${rest} more lines: Ctrl-O)`] : [];
  return { kind: "person", text: [...begin, ...more].join("\n"), images };
}
