// Quotes the newest messages of a session for another one's model.
import {
  blocksOf,
  escapeTags,
  headOf,
  speakerOf,
  type TranscriptEntry,
  textOf,
} from "@clew/plugin-sdk/transcript";
import { type CallsWithoutResult, callsWithoutResult } from "../sessions/calls-without-result.ts";
import type { ShownEntry } from "../sessions/shown.ts";

/** Of one message, and of all of them, in characters. */
const MESSAGE_CHARS = 4_000;
const HISTORY_CHARS = 32_000;

/** Of entries as they are shown to people; the oldest are left out where there is too much. */
export function describeHistory(shown: readonly ShownEntry[]): string {
  const without = callsWithoutResult(shown);
  const quoted = shown.flatMap((entry) =>
    entry.type === "message" ? [quote(entry, without.get(entry.id))] : [],
  );
  const lines: string[] = [];
  let chars = 0;
  for (const text of quoted.toReversed()) {
    chars += text.length;
    if (chars > HISTORY_CHARS) break;
    lines.unshift(text);
  }
  const rest = quoted.length - lines.length;
  if (lines.length === 0) return "No messages yet.";
  return rest > 0 ? [`[${rest} older ones are left out]`, ...lines].join("\n") : lines.join("\n");
}

function quote(
  { message, timestamp }: Extract<TranscriptEntry, { type: "message" }>,
  without: CallsWithoutResult | undefined,
): string {
  const said = [textOf(message), ...callsIn(message, without)]
    .filter((text) => text !== "")
    .join("\n");
  const cut = headOf(said, MESSAGE_CHARS);
  const more = said.length > cut.length ? `\n[${said.length - cut.length} more characters]` : "";
  const from = speakerOf(message).replace(/[^\p{L}\p{N} _.:-]/gu, "");
  return `<record from="${from}" at="${timestamp.slice(0, 16).replace("T", " ")}">\n${escapeTags(cut)}${more}\n</record>`;
}

function callsIn(
  message: Extract<TranscriptEntry, { type: "message" }>["message"],
  without: CallsWithoutResult | undefined,
): string[] {
  if (message.role !== "assistant") return [];
  const isLost = (id: unknown) => without?.isOver === true && without.callIds.includes(String(id));
  return blocksOf(message.content).flatMap(({ type, name, id }) =>
    type === "toolCall"
      ? [`[calls ${String(name)}${isLost(id) ? ", which was never answered" : ""}]`]
      : [],
  );
}
