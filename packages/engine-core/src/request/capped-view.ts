// Shortens long tool results of a request to their cap, reading only what is new.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { capToolResults } from "@clew/plugin-sdk/transcript";
import type { SharedPrefix } from "./shared-prefix.ts";

export interface CappedView {
  /**
   * `messages` as the model may see them; the same array when none is too long for
   * `contextWindow` (tokens). `reader` as for `capToolResults`.
   */
  view(
    messages: readonly AgentMessage[],
    contextWindow: number,
    reader?: string,
  ): readonly AgentMessage[];
}

export function createCappedView(prefixOf: SharedPrefix): CappedView {
  let clean: readonly AgentMessage[] = [];
  let cleanFor = 0;
  return {
    view(messages, contextWindow, reader) {
      const known = cleanFor === contextWindow ? prefixOf(messages, clean) : 0;
      const fresh = messages.slice(known);
      const capped = capToolResults(fresh, contextWindow, reader);
      if (capped !== fresh) return [...messages.slice(0, known), ...capped];
      clean = messages;
      cleanFor = contextWindow;
      return messages;
    },
  };
}
