// Puts what a summary stands for into few tokens, for a model that says it in words.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { estimateText } from "@clew/plugin-sdk/tokens";
import {
  blocksOf,
  escapeTags,
  headOf,
  isData,
  otherSessionOf,
  quotedTextOf,
  textOf,
} from "@clew/plugin-sdk/transcript";
import { isRecall } from "../messages/quoting.ts";
import type { StoredMessage } from "../store/rows.ts";

/** Characters that are left of each kind of message, from most to least. */
const LENGTHS: readonly Readonly<Record<"person" | "model" | "call" | "result", number>>[] = [
  { person: 500, model: 300, call: 120, result: 160 },
  { person: 300, model: 200, call: 80, result: 80 },
  { person: 200, model: 120, call: 60, result: 0 },
  { person: 140, model: 80, call: 0, result: 0 },
  { person: 80, model: 0, call: 0, result: 0 },
];
const NOTHING = "";

/**
 * Pure: who said what, a line each, within so many tokens; empty: that cannot be told in them.
 * Thinking, data, the host's own runs and branches that were left are no part of it.
 */
export function sourceText(messages: readonly StoredMessage[], tokens: number): string {
  const said = messages.filter(
    ({ message, isHeartbeat, isLeft, isDamaged }) =>
      isHeartbeat !== true && isLeft !== true && isDamaged !== true && !isRecall(message),
  );
  for (const lengths of LENGTHS) {
    const lines = said.flatMap(({ message }) => linesOfMessage(message, lengths));
    const text = escapeTags(lines.join("\n").toWellFormed());
    if (estimateText(text).high <= tokens) return text;
  }
  return NOTHING;
}

function linesOfMessage(message: AgentMessage, lengths: (typeof LENGTHS)[number]): string[] {
  const line = (speaker: keyof typeof lengths, text: string, name: string = speaker) => {
    const most = lengths[speaker];
    if (most === 0 || isData(headOf(text, 4 * most))) return [];
    const shown = headOf(text.replaceAll(/\s+/gu, " ").trim(), most);
    return shown === "" ? [] : [`${name}: ${shown}`];
  };
  switch (message.role) {
    case "user":
      return line("person", quotedTextOf(message), otherSessionOf(message) && "another session");
    case "toolResult":
      return line("result", textOf(message));
    case "assistant":
      return blocksOf(message.content).flatMap((block) => {
        if (block.type === "text") return line("model", String(block.text));
        if (block.type !== "toolCall") return [];
        return line("call", `${block.name} ${JSON.stringify(block.arguments) ?? ""}`);
      });
    default:
      return [];
  }
}
