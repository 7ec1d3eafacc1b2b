// A model call that says nothing, for what does not depend on what is said.
import type { ModelCall, ModelRef } from "@clew/plugin-sdk/host";

export const emptyCall = (model: ModelRef): ModelCall => ({
  ...{ model, systemPrompt: "", messages: [], tools: [] },
  signal: new AbortController().signal,
});
