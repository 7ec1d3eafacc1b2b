// Speaks Gemini's generateContent to Google AI and to Vertex.
import type { ModelCall } from "@clew/plugin-sdk/host";
import { leavesOut } from "../google-generative-ai/ask.ts";
import { writeBody } from "../google-generative-ai/body.ts";
import { createGeminiDecoder } from "../google-generative-ai/decode.ts";
import { addressOf, signIn } from "../google-generative-ai/place.ts";
import type { Endpoint, WireDriver, WireRequest } from "../provider.ts";
import { headersOf } from "../shared/headers.ts";

/**
 * Api "google-generative-ai", at Google AI, and at Vertex for the provider "google-vertex" or an
 * address of a Google Cloud location; there `apiKey` is an access token. Rules of the wire:
 * `checkRequest` of `@clew/providers/testing`.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { googleGenerativeAi } from "@clew/providers/drivers/google-generative-ai";
 *
 * assert.equal(googleGenerativeAi.api, "google-generative-ai");
 * ```
 */
export const googleGenerativeAi: WireDriver = {
  kind: "wire",
  api: "google-generative-ai",
  buildRequest: buildGeminiRequest,
  leavesOut,
  createDecoder: (options) => createGeminiDecoder(options),
};

function buildGeminiRequest(call: ModelCall, endpoint: Endpoint): WireRequest {
  return {
    method: "POST",
    url: addressOf(call.model, endpoint),
    headers: headersOf(endpoint, signIn(call.model, endpoint)),
    body: writeBody(call, endpoint),
  };
}
