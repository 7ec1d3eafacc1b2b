// Speaks Gemini in the envelope of Google's command line client.
import { isRecord, type ModelCall } from "@clew/plugin-sdk/host";
import { leavesOut } from "../google-generative-ai/ask.ts";
import { writeBody } from "../google-generative-ai/body.ts";
import { createGeminiDecoder } from "../google-generative-ai/decode.ts";
import type { Endpoint, WireDriver, WireRequest } from "../provider.ts";
import { addressAt } from "../shared/address.ts";
import { bearer, headersOf } from "../shared/headers.ts";
import { wellFormedJson } from "../shared/well-formed.ts";

/**
 * Api "google-gemini-cli": model and project stand beside the request, and each response stands in
 * another. The provider "google-antigravity" is reached in the same way.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { googleGeminiCli } from "@clew/providers/drivers/google-gemini-cli";
 *
 * assert.equal(googleGeminiCli.api, "google-gemini-cli");
 * ```
 */
export const googleGeminiCli: WireDriver = {
  kind: "wire",
  api: "google-gemini-cli",
  buildRequest: buildEnvelope,
  leavesOut,
  createDecoder: (options) =>
    createGeminiDecoder(options, (event) => (isRecord(event.response) ? event.response : event)),
};

function buildEnvelope(call: ModelCall, endpoint: Endpoint): WireRequest {
  const { model, sessionId } = call;
  const head = {
    model: model.id,
    ...(endpoint.project !== undefined && { project: endpoint.project }),
    ...(model.provider === "google-antigravity" && { userAgent: "antigravity" }),
  };
  const request = writeBody(
    call,
    endpoint,
    sessionId === undefined ? {} : { session_id: sessionId },
  );
  return {
    method: "POST",
    url: addressAt(endpoint, "v1internal:streamGenerateContent?alt=sse"),
    headers: headersOf(endpoint, bearer(endpoint)),
    body: `${wellFormedJson(head).slice(0, -1)},"request":${request}}`,
  };
}
