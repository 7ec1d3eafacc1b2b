// Decides what becomes of tool results that older hosts kept inside user messages.
import { definePass, mapChanged } from "../pass.ts";
import {
  blockText,
  fieldOf,
  nonBlank,
  resultId,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  textBlock,
} from "../stored.ts";
import { isEmbeddedResult } from "./contract-shape.ts";

/**
 * Tells results inside user messages as text. Tool results are messages of their own on every
 * wire, so that one that is left inside a user's words would go unsent, or leave a turn empty.
 */
export const tellEmbeddedResults = definePass(
  "embedded-results-told",
  (messages, _options, report) =>
    mapChanged(messages, (message, index) => {
      const role = roleOf(message);
      if ((role !== "user" && role !== "custom") || !Array.isArray(message.content)) return message;
      const content = mapChanged(message.content as readonly StoredBlock[], (block) =>
        isEmbeddedResult(block) ? textBlock(toldResult(block)) : block,
      );
      if (content === message.content) return message;
      report("changed", index, "a tool result inside a user message, told as text");
      return { ...message, content } as StoredMessage;
    }),
  ({ hasEmbeddedResults }) => hasEmbeddedResults,
);

function toldResult(block: StoredBlock): string {
  const id = nonBlank(resultId(block));
  const heading = `[Result of tool call${id === undefined ? "" : ` ${id}`}]`;
  const content = fieldOf(block, "content");
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  const texts = parts.map((part) =>
    typeof part === "string" ? part : blockText(part as StoredBlock),
  );
  return [heading, ...texts].filter((text) => nonBlank(text) !== undefined).join("\n");
}
