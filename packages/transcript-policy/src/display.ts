// What people are shown of a history, without what the host put around their words.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { mapChanged } from "./pass.ts";
import { stripInterSessionPromptPrefixForDisplay } from "./passes/inter-session.ts";
import { RUNTIME_CONTEXT_TYPE, stripHostContext } from "./passes/runtime-context.ts";
import {
  asAgentMessages,
  asStored,
  blockText,
  isBlank,
  roleOf,
  type StoredMessage,
  storedBlocks,
} from "./stored.ts";

/** The messages a surface may show (rule R2b); the same array when none had to change. */
export const projectForDisplay = (messages: readonly AgentMessage[]): readonly AgentMessage[] => {
  const shown = mapChanged(asStored(messages), project);
  return shown === asStored(messages) ? messages : asAgentMessages(shown);
};

/** One message as a surface may show it; undefined when there is nothing to show. */
export const projectMessageForDisplay = (message: AgentMessage): AgentMessage | undefined =>
  projectForDisplay([message])[0];

/**
 * A text as a surface may show it: no markers, no runtime context, no metadata; the same string
 * when it holds none.
 */
export const projectTextForDisplay = (text: string): string =>
  stripHostContext(stripInterSessionPromptPrefixForDisplay(text));

function project(message: StoredMessage): StoredMessage | undefined {
  const role = roleOf(message);
  if (
    role === "custom" &&
    (message.customType === RUNTIME_CONTEXT_TYPE || message.display === false)
  )
    return undefined;
  if (role !== "user" && role !== "assistant" && role !== "custom") return message;
  const { content } = message;
  if (typeof content === "string") {
    const text = projectTextForDisplay(content);
    return text === content ? message : isBlank(text) ? undefined : { ...message, content: text };
  }
  const blocks = storedBlocks(message);
  const shown = mapChanged(blocks, (block) => {
    const text = blockText(block);
    const bare = text === undefined ? undefined : projectTextForDisplay(text);
    if (bare === text || bare === undefined) return block;
    return isBlank(bare) ? undefined : { ...block, text: bare };
  });
  if (shown === blocks) return message;
  return shown.length === 0 ? undefined : { ...message, content: shown };
}
