// Leaves out of a summary request what is too large for it, and says what that was.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { atomicGroups } from "@clew/plugin-sdk/transcript";
import type { CountMessage } from "./chunks.ts";

export interface WithoutOversized {
  kept: AgentMessage[];
  /** One line per message that was too large itself. */
  omitted: string[];
}

/**
 * Assistant and tool messages of a group with an oversized member go as a whole, so that no call
 * stands without its result.
 */
export function withoutOversized(
  messages: readonly AgentMessage[],
  { isOversized, count }: { isOversized: (message: AgentMessage) => boolean; count: CountMessage },
): WithoutOversized {
  const kept: AgentMessage[] = [];
  const omitted: string[] = [];
  for (const { start, end } of atomicGroups(messages)) {
    const group = messages.slice(start, end);
    const tooLarge = group.filter(isOversized);
    const goes = (message: AgentMessage) =>
      tooLarge.includes(message) ||
      (tooLarge.length > 0 && (message.role === "assistant" || message.role === "toolResult"));
    kept.push(...group.filter((message) => !goes(message)));
    omitted.push(
      ...tooLarge.map(
        (message) =>
          `[Large ${message.role} (~${Math.round(count(message) / 1000)}K tokens) omitted from summary]`,
      ),
    );
  }
  return { kept, omitted };
}
