// Speaks Anthropic's Messages to Anthropic and to compatible servers.
import type { ModelCall } from "@clew/plugin-sdk/host";
import { planAsk } from "../anthropic-messages/ask.ts";
import { cacheMark } from "../anthropic-messages/cache.ts";
import { createMessagesDecoder } from "../anthropic-messages/decode.ts";
import { writeMessages } from "../anthropic-messages/messages.ts";
import { placeOf } from "../anthropic-messages/place.ts";
import { toolFields } from "../anthropic-messages/tools.ts";
import type { Endpoint, WireDriver, WireRequest } from "../provider.ts";
import { headersOf } from "../shared/headers.ts";
import { profileFor } from "../shared/profile.ts";
import { schemaOnly } from "../shared/response-format.ts";
import { wellFormedJson } from "../shared/well-formed.ts";

/**
 * Api "anthropic-messages". Rules of the wire: `checkRequest` of `@clew/providers/testing`. A call
 * that asks nothing of the cache is marked for the provider's shortest time.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { anthropicMessages } from "@clew/providers/drivers/anthropic-messages";
 *
 * assert.equal(anthropicMessages.api, "anthropic-messages");
 * ```
 */
export const anthropicMessages: WireDriver = {
  kind: "wire",
  api: "anthropic-messages",
  buildRequest: buildMessagesRequest,
  leavesOut: schemaOnly,
  createDecoder: createMessagesDecoder,
};

function buildMessagesRequest(call: ModelCall, endpoint: Endpoint): WireRequest {
  const { model, systemPrompt, messages } = call;
  const profile = profileFor(model, endpoint);
  const place = placeOf(model, endpoint);
  const mark = cacheMark(call, profile);
  const { fields, betas } = planAsk(call, endpoint, profile);
  const head = {
    ...place.fields,
    max_tokens: call.maxOutputTokens ?? model.maxOutputTokens,
    ...toolFields(call, profile, mark),
    ...(systemPrompt.trim() !== "" && { system: [{ type: "text", text: systemPrompt, ...mark }] }),
    ...fields,
    stream: true,
  };
  const written = writeMessages(messages, {
    model,
    profile,
    mark,
    stableMessages: call.cache?.stableMessages ?? 0,
  });
  return {
    method: "POST",
    url: place.url,
    headers: withBetas(betas, headersOf(endpoint, place.headers)),
    // The messages are text already, so that the old ones need not be written again.
    body: `${wellFormedJson(head).slice(0, -1)},"messages":[${written}]}`,
  };
}

/** Those a person turned on stay. */
function withBetas(
  betas: readonly string[],
  headers: Record<string, string>,
): Record<string, string> {
  const own = (headers["anthropic-beta"] ?? "").split(",").map((name) => name.trim());
  const all = [...new Set([...own, ...betas])].filter((name) => name !== "");
  return all.length === 0 ? headers : { ...headers, "anthropic-beta": all.join(",") };
}
