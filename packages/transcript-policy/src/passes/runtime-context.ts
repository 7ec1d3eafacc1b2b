// Finds what of a history is the host's own context and nobody's words.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { mapChanged } from "../pass.ts";
import { asStored, roleOf } from "../stored.ts";
import { stripInboundMetadata } from "./channel-text.ts";
import { stripInternalRuntimeContext } from "./runtime-text.ts";

/**
 * Custom messages that carry runtime context from one turn to the next.
 * @internal
 */
export const RUNTIME_CONTEXT_TYPE = "openclaw.runtime-context";

/**
 * The text without anything the host put there.
 * @internal
 */
export const stripHostContext = (text: string): string =>
  stripInboundMetadata(stripInternalRuntimeContext(text));

/** Drops every runtime-context message: what is stored and shown holds none. */
export const stripRuntimeContextCustomMessages = (
  messages: readonly AgentMessage[],
): readonly AgentMessage[] =>
  messages.filter((message) => !isRuntimeContext(message)).length === messages.length
    ? messages
    : messages.filter((message) => !isRuntimeContext(message));

/**
 * Drops runtime-context messages except those directly before the last user message, which belong
 * to the running turn.
 */
export function stripHistoricalRuntimeContextCustomMessages(
  messages: readonly AgentMessage[],
): readonly AgentMessage[] {
  const user = messages.findLastIndex((message) => roleOf(asStored([message])[0]) === "user");
  let start = user;
  while (start > 0 && isRuntimeContext(messages[start - 1]!)) start -= 1;
  return mapChanged(messages, (message, index) =>
    isRuntimeContext(message) && !(index >= start && index < user) ? undefined : message,
  );
}

const isRuntimeContext = (message: AgentMessage): boolean =>
  message?.role === "custom" && message.customType === RUNTIME_CONTEXT_TYPE;
