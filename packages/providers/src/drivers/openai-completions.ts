// Speaks OpenAI Chat Completions to OpenAI and to every compatible server.
import type { ModelCall } from "@clew/plugin-sdk/host";
import { askFields, withoutPrefill } from "../openai-completions/ask.ts";
import { cacheFields, chatMarks } from "../openai-completions/cache.ts";
import { createChatDecoder } from "../openai-completions/decode.ts";
import { findFlavor } from "../openai-completions/flavors.ts";
import { writeChatMessages } from "../openai-completions/messages.ts";
import type { Endpoint, WireDriver, WireRequest } from "../provider.ts";
import { addressAt } from "../shared/address.ts";
import { joined } from "../shared/growing.ts";
import { headersOf } from "../shared/headers.ts";
import { keyHeader } from "../shared/key-header.ts";
import { profileFor } from "../shared/profile.ts";
import { wellFormedJson } from "../shared/well-formed.ts";

/**
 * Api "openai-completions". Rules of the wire: the Chat Completions checks of
 * `@clew/providers/testing`. Flavors: `CHAT_FLAVORS`.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { openaiCompletions } from "@clew/providers/drivers/openai-completions";
 *
 * assert.equal(openaiCompletions.api, "openai-completions");
 * ```
 */
export const openaiCompletions: WireDriver = {
  kind: "wire",
  api: "openai-completions",
  buildRequest: buildChatRequest,
  createDecoder: (options) => createChatDecoder(options),
};

function buildChatRequest(call: ModelCall, endpoint: Endpoint): WireRequest {
  const { model, tools, temperature } = call;
  const profile = profileFor(model, endpoint);
  const flavor = { ...findFlavor(endpoint), marks: chatMarks(call, profile) };
  const thinks =
    model.reasoning === true || (profile.reasoning.ask !== "none" && model.reasoning !== false);
  const sendsTemperature =
    temperature !== undefined && !(flavor.fixedReasoningTemperature && thinks);
  const { systemPrompt } = call;
  const rest = {
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: "function",
        function: { name, description, parameters },
      })),
    }),
    ...(call.maxOutputTokens !== undefined && { [flavor.maxTokensField]: call.maxOutputTokens }),
    ...(sendsTemperature && { temperature }),
    ...askFields(call, endpoint, profile),
    ...cacheFields(call, flavor, profile),
    stream: true,
    stream_options: { include_usage: true },
  };
  const messages = joined(
    systemPrompt.trim() === "" ? "" : wellFormedJson({ role: "system", content: systemPrompt }),
    writeChatMessages(withoutPrefill(call, endpoint, profile), { model, profile, flavor }),
  );
  return {
    method: "POST",
    url: addressAt(endpoint, "chat/completions"),
    headers: headersOf(endpoint, keyHeader(model, endpoint)),
    // The messages are text already, so that the old ones need not be written again.
    body: `{"model":${wellFormedJson(model.id)},"messages":[${messages}],${wellFormedJson(rest).slice(1)}`,
  };
}
