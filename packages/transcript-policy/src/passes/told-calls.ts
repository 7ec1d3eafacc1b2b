// Tells tool calls and results as text where a provider refused their pairing.
import { definePass, mapChanged } from "../pass.ts";
import { isMadeUntil } from "../readers.ts";
import {
  callId,
  isToolCall,
  isToolCallLike,
  nonBlank,
  resultId,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
  textBlock,
} from "../stored.ts";

/** Which calls are told. */
export interface ToldCallsOptions {
  /** Those made until then, ms since the epoch. */
  until: number;
}

/**
 * Makes text of tool calls and results up to a time: a provider refused their order or pairing, and
 * text can be refused for neither. Results of told calls are told too, whenever they came.
 */
export const tellCallsAsText = definePass<ToldCallsOptions>(
  "told-calls",
  (messages, { until }, report) => {
    const told = new Set<string>();
    return mapChanged(messages, (message, index) => {
      if (roleOf(message) === "toolResult") {
        if (!isMadeUntil(message, until) && !told.has(resultId(message) ?? "")) return message;
        report("changed", index, "a tool result, told as text because it was refused before");
        return toldResult(message);
      }
      if (roleOf(message) !== "assistant") return message;
      const blocks = storedBlocks(message);
      const ids = blocks.filter(isToolCall).map((block) => callId(block).trim());
      if (!isMadeUntil(message, until)) {
        // An id that is used again is the newer call's.
        for (const id of ids) told.delete(id);
        return message;
      }
      for (const id of ids) told.add(id);
      const content = mapChanged(blocks, (block) =>
        isToolCallLike(block) ? textBlock(toldCall(block)) : block,
      );
      if (content === blocks) return message;
      report("changed", index, "tool calls, told as text because they were refused before");
      return { ...message, content, stopReason: "stop" };
    });
  },
  ({ hasTools }) => hasTools,
);

const toldCall = (block: StoredBlock): string =>
  `[Called ${nonBlank(block.name) ?? "a tool"} with ${JSON.stringify(block.arguments ?? block.input ?? {})}]`;

function toldResult(result: StoredMessage): StoredMessage {
  const { __openclaw, timestamp } = result;
  const failed = result.isError === true ? ", which failed" : "";
  const heading = `[Result of ${nonBlank(result.toolName) ?? "a tool"}${failed}]`;
  return {
    role: "custom",
    customType: "told-tool-result",
    content: [textBlock(heading), ...storedBlocks(result)],
    ...(__openclaw !== undefined && { __openclaw }),
    ...(timestamp !== undefined && { timestamp }),
  };
}
