// Shortens long tool results of a request to their cap, reading only what is new.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { capToolResults } from "@clew/plugin-sdk/transcript";
import type { SharedPrefix } from "./shared-prefix.ts";

export interface CappedView {
  /**
   * `messages` as the model may see them; the same array when none is too long for
   * `contextWindow` (tokens).
   */
  view(messages: readonly AgentMessage[], contextWindow: number): readonly AgentMessage[];
}

export function createCappedView(prefixOf: SharedPrefix): CappedView {
  let clean: readonly AgentMessage[] = [];
  let cleanFor = 0;
  return {
    view(messages, contextWindow) {
      const known = cleanFor === contextWindow ? prefixOf(messages, clean) : 0;
      const fresh = messages.slice(known);
      const capped = capToolResults(fresh, contextWindow);
      if (capped !== fresh) return [...messages.slice(0, known), ...capped];
      clean = messages;
      cleanFor = contextWindow;
      return messages;
    },
  };
}
