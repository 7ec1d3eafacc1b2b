// Tells plugins what a model is asked in a turn, and what it answers.
import type { ModelPort } from "@clew/engine-core";
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelCall } from "@clew/plugin-sdk/host";
import { textOf } from "@clew/plugin-sdk/transcript";
import type { HookContext } from "./hook-context.ts";
import type { HookRunner } from "./hook-runs.ts";

/** They look on: nothing that they do to what they are given changes a call. */
export function withModelHooks(
  model: ModelPort,
  { hooks, context }: { hooks: HookRunner; context: HookContext },
): ModelPort {
  const { resolve } = model;
  return {
    ...(resolve !== undefined && {
      resolve: (reference: string) => resolve.call(model, reference),
    }),
    complete: (call) => model.complete(call),
    async *stream(call) {
      hooks.observe("llm_input", () => inputOf(call, context), context);
      for await (const event of model.stream(call)) {
        if (event.type === "done")
          hooks.observe("llm_output", () => outputOf(call, event.message, context), context);
        yield event;
      }
    },
  };
}

const aboutCall = ({ model }: ModelCall, { runId, sessionId }: HookContext) => ({
  ...{ sessionId, provider: model.provider, model: model.id },
  ...(runId !== undefined && { runId }),
});

/** The prompt is the newest thing a person said; what came before it is history. */
function inputOf(call: ModelCall, context: HookContext) {
  const { systemPrompt, messages, tools } = call;
  const at = messages.findLastIndex(({ role }) => role === "user");
  const prompt = messages[at];
  const images = messages.flatMap((message) =>
    "content" in message && Array.isArray(message.content)
      ? message.content.filter((block) => (block as { type: string }).type === "image")
      : [],
  );
  return {
    ...aboutCall(call, context),
    ...{ systemPrompt, prompt: prompt === undefined ? "" : textOf(prompt) },
    historyMessages: messages.slice(0, Math.max(at, 0)),
    imagesCount: images.length,
    tools: tools.map(({ name }) => name),
  };
}

function outputOf(call: ModelCall, message: AssistantMessage, context: HookContext) {
  const text = textOf(message);
  return {
    ...aboutCall(call, context),
    ...{ assistantTexts: text === "" ? [] : [text], lastAssistant: message },
    usage: message.usage,
  };
}
