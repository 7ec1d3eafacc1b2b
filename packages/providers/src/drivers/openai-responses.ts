// Speaks OpenAI's Responses to OpenAI and to compatible servers.
import type { ModelCall } from "@clew/plugin-sdk/host";
import { createResponsesDecoder } from "../openai-responses/decode.ts";
import { writeRequest } from "../openai-responses/request.ts";
import type { Endpoint, WireDriver, WireRequest } from "../provider.ts";
import { keyHeader } from "../shared/key-header.ts";

/**
 * Api "openai-responses". Nothing is stored by the server: reasoning goes out and back encrypted,
 * and items have no ids. Rules of the wire: `checkRequest` of `@clew/providers/testing`.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { openaiResponses } from "@clew/providers/drivers/openai-responses";
 *
 * assert.equal(openaiResponses.api, "openai-responses");
 * ```
 */
export const openaiResponses: WireDriver = {
  kind: "wire",
  api: "openai-responses",
  buildRequest: buildResponsesRequest,
  createDecoder: createResponsesDecoder,
};

function buildResponsesRequest(call: ModelCall, endpoint: Endpoint): WireRequest {
  const { systemPrompt, maxOutputTokens } = call;
  return writeRequest(call, endpoint, {
    headers: keyHeader(call.model, endpoint),
    fields: {
      ...(systemPrompt.trim() !== "" && { instructions: systemPrompt }),
      ...(maxOutputTokens !== undefined && {
        max_output_tokens: Math.max(maxOutputTokens, LEAST_OUTPUT),
      }),
    },
    takesTemperature: true,
  });
}

/** The provider takes no lower limit. */
const LEAST_OUTPUT = 16;
