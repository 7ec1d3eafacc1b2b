// Tells what occurs in a history, so that passes with nothing to do need not run.
import { isRecord } from "@clew/plugin-sdk/host";
import {
  isThinking,
  isToolCallLike,
  roleOf,
  type StoredMessage,
  storedBlocks,
  typeOf,
} from "./stored.ts";

/** What occurs in a list of messages, as far as a pass may depend on it. */
export interface Traits {
  /** Role of the first message; undefined when there is none. */
  firstRole: string | undefined;
  /** Role of the last message; undefined when there is none. */
  lastRole: string | undefined;
  /** Roles that follow themselves. */
  repeatedRoles: ReadonlySet<string>;
  /** A message says where it came from. */
  hasProvenance: boolean;
  /** A compaction stands in the list. */
  hasSummary: boolean;
  /** Any block of thinking. */
  hasThinking: boolean;
  /** Tool calls in any spelling, or tool results. */
  hasTools: boolean;
  /** Tool results inside other messages. */
  hasEmbeddedResults: boolean;
  /** Tool results with details. */
  hasDetails: boolean;
  /** A block with a thought signature in either spelling. */
  hasThoughtSignatures: boolean;
  /** A text block with a signature. */
  hasTextSignatures: boolean;
  /** A block that only its provider understands. */
  hasProviderBlocks: boolean;
}

/**
 * One look at every block.
 * @internal
 */
export function traitsOf(messages: readonly StoredMessage[]): Traits {
  const repeatedRoles = new Set<string>();
  const found = {
    hasProvenance: false,
    hasSummary: false,
    hasThinking: false,
    hasTools: false,
    hasEmbeddedResults: false,
    hasDetails: false,
    hasThoughtSignatures: false,
    hasTextSignatures: false,
    hasProviderBlocks: false,
  };
  let lastRole: string | undefined;
  for (const message of messages) {
    const role = roleOf(message);
    if (role !== undefined && role === lastRole) repeatedRoles.add(role);
    lastRole = role;
    if (role === undefined) continue;
    found.hasProvenance ||= message.provenance !== undefined;
    found.hasSummary ||= role === "compactionSummary";
    found.hasTools ||= role === "toolResult";
    found.hasDetails ||= role === "toolResult" && "details" in message;
    for (const block of storedBlocks(message)) {
      if (!isRecord(block)) continue;
      const type = typeOf(block);
      found.hasThinking ||= isThinking(block);
      found.hasTools ||= isToolCallLike(block);
      found.hasEmbeddedResults ||= type === "toolResult" || type === "tool_result";
      found.hasProviderBlocks ||= type === "provider";
      found.hasTextSignatures ||= "textSignature" in block;
      found.hasThoughtSignatures ||= "thought_signature" in block || "thoughtSignature" in block;
    }
  }
  return { firstRole: roleOf(messages[0]), lastRole, repeatedRoles, ...found };
}
