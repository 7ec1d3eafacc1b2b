// Removes what never leaves the host, such as the details of tool results.
import { ZERO_USAGE } from "@clew/plugin-sdk/host";
import { definePass, mapChanged } from "../pass.ts";
import { roleOf, without } from "../stored.ts";
import { isZeroUsage } from "./replay-content.ts";
import { isBefore, latestCompaction } from "./thinking.ts";

/** Removes `details` from every tool result. */
export const stripToolResultDetails = definePass(
  "tool-details",
  (messages, _options, report) =>
    mapChanged(messages, (message, index) => {
      if (roleOf(message) !== "toolResult" || !("details" in message)) return message;
      report("changed", index, "machine-readable details the model must not see");
      return without(message, ["details"]);
    }),
  ({ hasDetails }) => hasDetails,
);

/**
 * Zeroes the token counts of assistants before a compaction: they measured a context that is gone
 * (rule R16).
 */
export const clearStaleUsage = definePass(
  "stale-usage",
  (messages, _options, report) => {
    const compactedAt = latestCompaction(messages);
    if (compactedAt === undefined) return messages;
    return mapChanged(messages, (message, index) => {
      const isStale =
        roleOf(message) === "assistant" &&
        isBefore(message, compactedAt) &&
        typeof message.usage === "object" &&
        message.usage !== null;
      if (!isStale || isZeroUsage(message.usage)) return message;
      report("changed", index, "token counts older than the compaction");
      return { ...message, usage: ZERO_USAGE };
    });
  },
  ({ hasSummary }) => hasSummary,
);
