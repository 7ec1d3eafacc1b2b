// Marks the messages that this engine writes into a view, to know them when they come back.
import type { AgentMessage, CompactionSummaryMessage } from "@clew/plugin-sdk/core";

/** Beside what hosts write on a message: plain data that copies keep and models never see. */
const MARK = "lossless";

/** What stands in a view for the messages before it. `name` tells it from every other. */
export function ownRecord(
  summary: string,
  { name, timestamp }: { name: string; timestamp: number | undefined },
): CompactionSummaryMessage {
  return {
    role: "compactionSummary",
    summary,
    ...(timestamp !== undefined && { timestamp }),
    __openclaw: { [MARK]: name },
  };
}

/** What tells it from every other message that this engine wrote; undefined: a host stored it. */
export function ownName(message: AgentMessage): string | undefined {
  const name = message.__openclaw?.[MARK];
  return typeof name === "string" ? name : undefined;
}

/** True: this engine wrote it, and no host stored it. */
export const isOwn = (message: AgentMessage): boolean => ownName(message) !== undefined;
