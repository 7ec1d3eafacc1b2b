// Speaks Mistral's chat.
import type { ModelCall } from "@clew/plugin-sdk/host";
import { askFields } from "../mistral-conversations/ask.ts";
import { writeMistralMessages } from "../mistral-conversations/messages.ts";
import { createChatDecoder } from "../openai-completions/decode.ts";
import type { Endpoint, WireDriver, WireRequest } from "../provider.ts";
import { addressAt } from "../shared/address.ts";
import { joined } from "../shared/growing.ts";
import { bearer, headersOf } from "../shared/headers.ts";
import { profileFor } from "../shared/profile.ts";
import { wellFormedJson } from "../shared/well-formed.ts";

/**
 * Api "mistral-conversations": Mistral's own dialect of chat, with thinking as chunks. Rules of the
 * wire: `checkRequest` of `@clew/providers/testing`.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mistralConversations } from "@clew/providers/drivers/mistral-conversations";
 *
 * assert.equal(mistralConversations.api, "mistral-conversations");
 * ```
 */
export const mistralConversations: WireDriver = {
  kind: "wire",
  api: "mistral-conversations",
  buildRequest: buildMistralRequest,
  createDecoder: (options) => createChatDecoder(options, "Mistral's chat"),
};

function buildMistralRequest(call: ModelCall, endpoint: Endpoint): WireRequest {
  const { model, systemPrompt, messages } = call;
  const profile = profileFor(model, endpoint);
  const isFirst = systemPrompt.trim() === "";
  const written = joined(
    isFirst ? "" : wellFormedJson({ role: "system", content: systemPrompt }),
    writeMistralMessages(messages, { model, profile, isFirst }),
  );
  const head = { model: model.id, ...askFields(call, profile), stream: true };
  return {
    method: "POST",
    url: addressAt(endpoint, "chat/completions"),
    headers: headersOf(endpoint, bearer(endpoint)),
    // The messages are text already, so that the old ones need not be written again.
    body: `${wellFormedJson(head).slice(0, -1)},"messages":[${written}]}`,
  };
}
