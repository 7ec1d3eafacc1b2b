// Writes what stands for messages that no model summarised.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { extractiveSummary } from "@clew/plugin-sdk/transcript";
import { type CountMessage, isOversized } from "./chunks.ts";

/** What the model was asked for. */
export interface Unsummarised {
  /** All of them, oldest first. */
  readonly messages: readonly AgentMessage[];
  /** Tokens. */
  readonly contextWindow: number;
  readonly count: CountMessage;
  /** Of one answer. */
  readonly maxOutputTokens: number;
  readonly maxChars: number | undefined;
  /** What the model wrote before it stopped. Absent: nothing. */
  readonly done: string | undefined;
  /** What of the messages that does not cover. */
  readonly rest: readonly AgentMessage[];
}

/** By what a caller wants where no model answers. */
export const LAST_RESORT = {
  note({ messages, contextWindow, count }) {
    const oversized = messages.filter((message) =>
      isOversized(message, contextWindow, count),
    ).length;
    const summary = `Context contained ${messages.length} messages (${oversized} oversized). Summary unavailable due to size limits.`;
    return { tier: "note", summary };
  },
  extract: (input) => ({ tier: "extract", summary: extract(input) }),
  none: ({ done }) => ({ tier: "extract", summary: done ?? "" }),
} satisfies Record<string, (input: Unsummarised) => { tier: "note" | "extract"; summary: string }>;

/** A summary by code, within the tokens and characters a model's would have had. */
function extract({ maxOutputTokens, maxChars, done, rest }: Unsummarised): string {
  // Three characters to a token is dense text: what fits then, fits always.
  const maxTokens = Math.min(
    maxOutputTokens,
    Math.floor((maxChars ?? Number.POSITIVE_INFINITY) / 3),
  );
  const previous = done === undefined ? {} : { previousSummary: done };
  return extractiveSummary({ messages: rest, maxTokens, ...previous });
}
