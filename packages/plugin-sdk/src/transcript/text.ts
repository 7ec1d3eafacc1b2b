// The text that a person would read of a message.
import type { AgentMessage } from "../contract/message.ts";
import { blocksOf, stringOf } from "../messages/blocks.ts";

/**
 * The plain text of a message; text blocks are joined by line feeds. A shell command is its
 * command line and output.
 */
export function textOf(message: AgentMessage): string {
  switch (message.role) {
    case "bashExecution":
      return message.output === ""
        ? `$ ${message.command}`
        : `$ ${message.command}\n${message.output}`;
    case "compactionSummary":
    case "branchSummary":
      return message.summary;
    default:
      return blocksOf(message.content)
        .filter((block) => block.type === "text")
        .map((block) => stringOf(block.text))
        .join("\n");
  }
}

/**
 * `text` on one line, white space collapsed, cut to `limit` characters with a sign that it was;
 * never inside a surrogate pair.
 */
export function oneLine(text: string, limit: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= limit ? line : `${headOf(line, limit - 1)}…`;
}

/** The first `limit` characters, one less when the cut would split a surrogate pair. */
export function headOf(text: string, limit: number): string {
  const end = Math.max(0, limit);
  const splits =
    end > 0 && end < text.length && isHigh(text.charCodeAt(end - 1)) && isLow(text.charCodeAt(end));
  return text.slice(0, splits ? end - 1 : end);
}

/** The last `limit` characters, one less when the cut would split a surrogate pair. */
export function tailOf(text: string, limit: number): string {
  const start = Math.max(0, text.length - Math.max(0, limit));
  const splits =
    start > 0 &&
    start < text.length &&
    isHigh(text.charCodeAt(start - 1)) &&
    isLow(text.charCodeAt(start));
  return text.slice(splits ? start + 1 : start);
}

/**
 * A copy for keeping: a part of a text keeps the whole text in memory. V8 copies short parts by
 * itself, and `JSON.parse` would enter them in its table of names, to be cleared in one piece.
 */
export const ownText = (text: string): string =>
  text.length < LEAST_PART ? text : (JSON.parse(JSON.stringify(text)) as string);

/** Characters of the shortest part of a text that V8 does not copy. */
const LEAST_PART = 13;

const isHigh = (code: number) => (code & 0xfc00) === 0xd800;
const isLow = (code: number) => (code & 0xfc00) === 0xdc00;
