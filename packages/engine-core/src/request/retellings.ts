// In which forms a stored message may be sent while it says the same.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { ZERO_USAGE } from "@clew/plugin-sdk/host";

/**
 * The message itself, and how a transcript policy hands it on without what no provider is sent.
 * Whoever has the stored message can make these again, so reports hold no copy of them.
 */
export function retellings(stored: AgentMessage): readonly AgentMessage[] {
  if (stored.role === "toolResult" && "details" in stored) {
    const { details: _details, ...rest } = stored;
    return [stored, rest];
  }
  return stored.role === "assistant" && stored.usage !== undefined
    ? [stored, { ...stored, usage: ZERO_USAGE }]
    : [stored];
}
