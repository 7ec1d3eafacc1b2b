// Speaks Amazon Bedrock's Converse.
import type { ModelCall, ModelProfile } from "@clew/plugin-sdk/host";
import { askFields } from "../bedrock-converse-stream/ask.ts";
import { planCache } from "../bedrock-converse-stream/cache.ts";
import { createConverseDecoder } from "../bedrock-converse-stream/decode.ts";
import { writeConverseMessages } from "../bedrock-converse-stream/messages.ts";
import { toolFields } from "../bedrock-converse-stream/tools.ts";
import type { Endpoint, WireDriver, WireRequest } from "../provider.ts";
import { addressAt } from "../shared/address.ts";
import { bearer, headersOf } from "../shared/headers.ts";
import { profileFor } from "../shared/profile.ts";
import { schemaOnly } from "../shared/response-format.ts";
import { wellFormedJson } from "../shared/well-formed.ts";

/**
 * Api "bedrock-converse-stream". Rules of the wire: `checkRequest` of `@clew/providers/testing`.
 * With `apiKey` a Bedrock API key is the sign-in; without one the request is to be signed, by
 * `sign` of `streamModel`. The address is that of a region,
 * `https://bedrock-runtime.<region>.amazonaws.com`.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { bedrockConverseStream } from "@clew/providers/drivers/bedrock-converse-stream";
 *
 * assert.equal(bedrockConverseStream.api, "bedrock-converse-stream");
 * ```
 */
export const bedrockConverseStream: WireDriver = {
  kind: "wire",
  api: "bedrock-converse-stream",
  buildRequest: buildConverseRequest,
  leavesOut: schemaOnly,
  createDecoder: createConverseDecoder,
};

function buildConverseRequest(call: ModelCall, endpoint: Endpoint): WireRequest {
  const { model, systemPrompt, messages } = call;
  const profile = profileFor(model, endpoint);
  const marks = planCache(call, profile);
  const tools = toolFields(call, profile, marks.tools);
  const head = {
    ...tools,
    ...(systemPrompt.trim() !== "" && {
      system: [{ text: systemPrompt }, ...(marks.system === undefined ? [] : [marks.system])],
    }),
    ...askFields(call, profile),
  };
  const written = writeConverseMessages(messages, {
    model,
    profile,
    mark: marks.messages,
    stableMessages: call.cache?.stableMessages ?? 0,
  });
  const fields = wellFormedJson(head).slice(1, -1);
  return {
    method: "POST",
    url: addressAt(endpoint, `model/${encodeURIComponent(model.id)}/${operation(tools, profile)}`),
    headers: headersOf(endpoint, { ...bearer(endpoint), accept: "*/*" }),
    // The messages are text already, so that the old ones need not be written again.
    body: `{${fields}${fields === "" ? "" : ","}"messages":[${written}]}`,
  };
}

/**
 * Some models write their calls in one piece only, and are refused as a stream for the tools alone
 * that a history names.
 */
const operation = (tools: object, { calls }: ModelProfile): string =>
  "toolConfig" in tools && !calls.streamed ? "converse" : "converse-stream";
