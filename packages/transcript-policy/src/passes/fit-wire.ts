// Brings what the wire would surely reject into a form it takes.
import { isRecord } from "@clew/plugin-sdk/host";
import { renderImageFault } from "../images/wire-image.ts";
import { definePass, mapChanged } from "../pass.ts";
import { isSignedThinkingApi } from "../route.ts";
import {
  isThinking,
  nonBlank,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
  textBlock,
  typeOf,
} from "../stored.ts";
import { toWellFormed } from "../surrogates.ts";
import { TEXTS } from "../texts.ts";
import type { WireRules } from "../wires.ts";
import { type EmptyReplies, isCutOffEmpty, settleContent } from "./images.ts";
import { readReasoningItem } from "./responses.ts";

/** The wire messages are about to take; see `wireRules`. */
export interface WireOptions {
  /** Its rules. */
  wire: WireRules;
}

/**
 * Replaces images the wire does not take by a text, and removes blank text (the synchronous half of
 * rule R4).
 */
export const settleContentForWire = definePass<WireOptions & EmptyReplies>(
  "wire-content",
  (messages, { wire, ...options }, report) =>
    mapChanged(messages, (message, index) => {
      const blocks = storedBlocks(message);
      const shown = mapChanged(blocks, (block) => renderImageFault(block, wire) ?? block);
      if (isRecord(message) && isCutOffEmpty(message)) {
        report("changed", index, "an empty reply, which no provider takes back");
        return { ...message, content: [textBlock(TEXTS.emptyContent)] };
      }
      return settleContent(message, shown === blocks ? undefined : shown, report, index, options);
    }),
);

/**
 * Removes thinking the wire cannot verify, and thinking at the end of a message where it may not
 * stand.
 */
export const fitThinking = definePass<WireOptions>(
  "wire-thinking",
  (messages, { wire }, report) => {
    if (wire.thinking === "any") return messages;
    return mapChanged(messages, (message, index) => {
      if (roleOf(message) !== "assistant") return message;
      const blocks = storedBlocks(message);
      const readable = mapChanged(blocks, (block) =>
        isThinking(block) && !isReadable(block, message, wire) ? undefined : block,
      );
      const end = readable.findLastIndex((block) => !isThinking(block)) + 1;
      const kept = end === readable.length ? readable : readable.slice(0, end);
      if (kept === blocks) return message;
      report("changed", index, "thinking this model could not read back");
      return {
        ...message,
        content: kept.length === 0 ? [textBlock(TEXTS.omittedReasoning)] : kept,
      };
    });
  },
  ({ hasThinking }) => hasThinking,
);

/**
 * True for thinking this wire could have written itself.
 * @internal
 */
export function isReadable(block: StoredBlock, message: StoredMessage, wire: WireRules): boolean {
  if (wire.thinking !== "signed") return wire.thinking === "any";
  if (typeof message.api === "string" && message.api !== "" && !isSignedThinkingApi(message.api))
    return false;
  if (typeOf(block) === "redacted_thinking") return nonBlank(block.data) !== undefined;
  return (
    nonBlank(block.thinkingSignature) !== undefined &&
    readReasoningItem(block.thinkingSignature) === undefined
  );
}

/**
 * Replaces half characters, which no JSON parser takes; signed thinking that holds one has lost its
 * meaning anyway.
 */
export const fitText = definePass<WireOptions>("wire-text", (messages, _options, report) =>
  mapChanged(messages, (message, index) => {
    const mended = toWellFormed(message.content);
    if (mended === message.content) return message;
    report("changed", index, "half a character, which no JSON parser takes");
    return { ...message, content: mended };
  }),
);
