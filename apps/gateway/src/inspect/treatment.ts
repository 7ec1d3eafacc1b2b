// How what was sent of a stored message differs from what is stored.
import { whatIsSaid } from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import { textOf } from "@clew/plugin-sdk/transcript";
import { messageText } from "../reports/message-text.ts";
import { AS_STORED, type Treatment } from "./fates.ts";

/** What the transcript and the report say of one sent message. */
export interface SentMessage {
  stored: AgentMessage;
  sent: AgentMessage;
  /** What a record of the branch put in its place, and the rule; null = no record names it. */
  placeholder: { words: string; rule: string } | null;
  /** Rule of a record of the branch that shortened it; null = none did. */
  trimmedBy: string | null;
  /** Who changes messages where nothing else is known. */
  rule: string;
}

/** Stands in results that the host cut to their cap. */
const CAP = /\[\d+ characters cut here to fit the model/;

/**
 * Pure. What no provider is sent (counts of tokens, details for programs, times) makes no
 * difference.
 */
export function planTreatment({
  stored,
  sent,
  placeholder,
  trimmedBy,
  rule,
}: SentMessage): Treatment {
  const [before, after] = [messageText(stored), messageText(sent)];
  if (before === after && saysNothingElse(stored, sent)) return AS_STORED;
  if (sent.role !== "toolResult") return { cleared: null, marks: [{ kind: "changed", rule }] };
  const words = textOf(sent);
  if (words === placeholder?.words) return { cleared: placeholder.rule, marks: [] };
  if (after.length >= before.length) return { cleared: null, marks: [{ kind: "changed", rule }] };
  const why = CAP.test(words) ? "cap of tool results" : (trimmedBy ?? rule);
  const [from, to] = [tokensOf(stored), tokensOf(sent)];
  return { cleared: null, marks: [{ kind: "shortened", from, to, rule: why }] };
}

const tokensOf = (message: AgentMessage) => Math.ceil(estimateMessage(message).estimate);

/** Besides the text: blocks without text, and what belongs to a call or result. */
function saysNothingElse(stored: AgentMessage, sent: AgentMessage): boolean {
  return contentKey(stored) === contentKey(sent);
}

/** A text is the same as one block of it; the order of fields says nothing. */
function contentKey(message: AgentMessage): string {
  const plain = Object.entries(whatIsSaid(message)).map(([name, value]): [string, unknown] =>
    name === "content" && typeof value === "string"
      ? [name, [{ type: "text", text: value }]]
      : [name, value],
  );
  return JSON.stringify(
    plain.sort(([a], [b]) => (a < b ? -1 : 1)),
    sortedKeys,
  );
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
