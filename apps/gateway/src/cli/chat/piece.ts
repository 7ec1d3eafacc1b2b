// What goes into the scrollback of a chat, before it is laid out.
import type { ToolEnd } from "../../approvals/refused.ts";
import type { ChatItem, ReplyPart } from "../../conversation/chat-view.ts";
import { linesOf, type ReplyLine } from "./reply-lines.ts";

export type Piece =
  | { kind: "person"; text: string; images: number }
  /** `isFirst`: a reply begins with it. */
  | { kind: "reply"; lines: readonly ReplyLine[]; isFirst: boolean }
  | { kind: "thought"; words: number; ms: number | null }
  | { kind: "tool"; name: string; input: string; end: ToolEnd | null; ms: number | null }
  | { kind: "answer"; command: string; text: string; isRefusal: boolean }
  /** Something that happened in the session. */
  | { kind: "mark"; text: string; detail?: string | null }
  /** What went wrong, and what to do next. */
  | { kind: "problem"; text: string }
  | { kind: "note"; text: string };

/** Pure. How an item of a stored conversation is shown, thoughts and tools folded. */
export function piecesOf(item: ChatItem): Piece[] {
  switch (item.kind) {
    case "person":
      return [{ kind: "person", text: item.text, images: item.images }];
    case "mark":
      return [{ kind: "mark", text: item.text, detail: item.detail }];
    case "answer": {
      const { command, text, isRefusal } = item;
      return [{ kind: "answer", command, text, isRefusal }];
    }
    case "reply": {
      const pieces = item.parts.map((part, index) => pieceOf(part, index === 0));
      if (item.ending === null) return pieces;
      const { kind, text } = item.ending;
      return [
        ...pieces,
        kind === "failed" ? { kind: "problem", text } : { kind: "note", text: `(${text})` },
      ];
    }
  }
}

function pieceOf(part: ReplyPart, isFirst: boolean): Piece {
  switch (part.kind) {
    case "text":
      return { kind: "reply", lines: linesOf(part.text), isFirst };
    case "thinking":
      return { kind: "thought", words: countWords(part.text), ms: null };
    case "tool":
      return {
        ...{ kind: "tool", name: part.name, input: part.input },
        ...{ end: endOf(part), ms: null },
      };
  }
}

/** Null: it has not ended, as far as is known. */
export const endOf = ({ state }: Extract<ReplyPart, { kind: "tool" }>): ToolEnd | null =>
  state === "waiting" || state === "running" ? null : state;

export const countWords = (text: string): number => text.match(/\S+/g)?.length ?? 0;
