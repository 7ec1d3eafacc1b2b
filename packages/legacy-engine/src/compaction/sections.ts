// What code adds to a model's prose, and what it takes out of it.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import {
  escapeTags,
  headOf,
  isUserTurn,
  quotedTextOf,
  splitTurns,
  tailOf,
} from "@clew/plugin-sdk/transcript";
import { userName } from "./serialize.ts";

/** Spec "compaction" §2.6; characters. */
export const SECTION_LIMITS = {
  recentMessage: 600,
  recentTurns: 8000,
  openRequest: 800,
} as const;

const RECENT_TURNS = "## Recent turns preserved verbatim";
const PROSE_CUT = "\n\n[Compaction summary truncated to fit budget]";

/**
 * A model's prose with what is quoted after it, at most `maxChars` in all; the prose keeps at least
 * half of them, and a quotation that does not fit is left out.
 */
export function joinProse(prose: string, recentTurns: string, maxChars: number): string {
  const added = recentTurns === "" ? "" : `\n\n${recentTurns}`;
  const left = maxChars - added.length;
  return left >= Math.min(prose.length, Math.floor(maxChars / 2))
    ? cut(prose, left) + added
    : cut(prose, maxChars);
}

const cut = (prose: string, room: number) =>
  prose.length <= room ? prose : headOf(prose, Math.max(0, room - PROSE_CUT.length)) + PROSE_CUT;

/**
 * Text of people and model in the newest turns, at most 600 characters per message and 8,000 in
 * all; empty when there is none.
 */
export function recentTurnsSection(
  messages: readonly AgentMessage[],
  turns: number,
  maxChars: number = SECTION_LIMITS.recentTurns,
): string {
  if (turns <= 0) return "";
  const ranges = splitTurns(messages)
    .filter(({ start }) => isUserTurn(messages[start]!))
    .slice(-turns);
  const first = ranges[0]?.start ?? messages.length;
  const lines: string[] = [];
  let left = Math.min(maxChars, SECTION_LIMITS.recentTurns) - RECENT_TURNS.length;
  for (const message of messages.slice(first).reverse()) {
    const text =
      message.role === "user" || message.role === "assistant" ? quotedTextOf(message).trim() : "";
    if (text === "") continue;
    const line = `[${message.role === "user" ? userName(message) : "Assistant"}]: ${quoted(headAndTail(text, SECTION_LIMITS.recentMessage))}`;
    if (line.length + 1 > left) break;
    lines.unshift(line);
    left -= line.length + 1;
  }
  return lines.length === 0 ? "" : [RECENT_TURNS, ...lines].join("\n");
}

/** Further lines are indented, so that a heading in a quotation is not one of the summary's. */
const quoted = (text: string) => escapeTags(text).replaceAll("\n", "\n  ");

/** An earlier summary's prose without the quotation that is made again each time. */
export function withoutRecentTurns(prose: string): string {
  const at = prose.startsWith(RECENT_TURNS) ? 0 : prose.indexOf(`\n\n${RECENT_TURNS}\n`);
  return at < 0 ? prose : prose.slice(0, at);
}

/** A blank line, an empty list, or the heading of a part of a section. */
const NOTHING = /^(?:[-*]?\s*\(?none(?: found)?\)?\.?|#{3,}\s.*|\*\*[^*]*\*\*:?)?$/i;

/** A model's prose without the headings under which it has nothing to say. */
export const withoutEmptySections = (prose: string): string =>
  prose
    .split(/\n(?=## )/)
    .filter((section) => {
      const [heading, ...lines] = section.split("\n");
      return !heading!.startsWith("## ") || lines.some((line) => !NOTHING.test(line.trim()));
    })
    .join("\n")
    .trim();

/** `text`, or its beginning and end with a sign between them; at most `limit` characters. */
export function headAndTail(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = Math.floor((limit - 3) / 2);
  return `${headOf(text, half)} … ${tailOf(text, half)}`;
}
