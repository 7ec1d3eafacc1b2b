// How a stored message reads in the results of the session's own tools.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { blocksOf, escapeTags, speakerOf, textOf } from "@clew/plugin-sdk/transcript";
import { idOf, type SessionMessages } from "./session-messages.ts";

/** The tools whose results quote the session itself. */
export const SESSION_TOOLS = { search: "session_search", read: "session_read" } as const;

const OURS: ReadonlySet<unknown> = new Set(Object.values(SESSION_TOOLS));

/**
 * Everything that was said, called or printed, but for thinking; empty for what only quotes the
 * session: a search would find its own results.
 */
export function recordTextOf(message: AgentMessage): string {
  if (message.role === "toolResult" && OURS.has(message.toolName)) return "";
  if (message.role !== "assistant") return textOf(message);
  return blocksOf(message.content)
    .flatMap((block) => {
      if (block.type === "text") return [String(block.text ?? "")];
      return block.type === "toolCall" && !OURS.has(block.name) ? [callText(block)] : [];
    })
    .join("\n");
}

function callText({ name, arguments: given }: { [key: string]: unknown }): string {
  const entries = typeof given === "object" && given !== null ? Object.entries(given) : [];
  const lines = entries.map(
    ([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return [`[calls ${String(name)}]`, ...lines].join("\n");
}

/**
 * A quotation of the message at `at`, in a tag that nothing in it can close. All of it is data, the
 * name of a tool too.
 */
export function quoteRecord(messages: SessionMessages, at: number, text: string): string {
  const entry = messages[at]!;
  const { message, timestamp } = entry;
  const time = minuteOf(message.timestamp, timestamp);
  const from = speakerOf(message);
  const about = `id="${attribute(idOf(entry))}" n="${at + 1}" from="${attribute(from)}" at="${time}"`;
  return `<record ${about}>\n${escapeTags(text)}\n</record>`;
}

const attribute = (text: string) => text.replace(/[^\p{L}\p{N} _.:-]/gu, "").slice(0, 80);

/** Of a time in ms, or else as the entry has it. */
export function minuteOf(timestamp: unknown, fallback: string): string {
  const time = new Date(typeof timestamp === "number" ? timestamp : fallback);
  return Number.isNaN(time.getTime()) ? "" : time.toISOString().slice(0, 16).replace("T", " ");
}
