// Speaks Responses to ChatGPT's backend, with the token of a subscription.
import { isRecord, type ModelCall } from "@clew/plugin-sdk/host";
import { createResponsesDecoder } from "../openai-responses/decode.ts";
import { writeRequest } from "../openai-responses/request.ts";
import type { Endpoint, WireDriver, WireRequest } from "../provider.ts";
import { bearer } from "../shared/headers.ts";

/**
 * Api "openai-chatgpt-responses": Responses as ChatGPT's backend takes it. The key is the access
 * token of a sign-in, which names the account; limits and temperature are the backend's own.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { openaiChatgptResponses } from "@clew/providers/drivers/openai-chatgpt-responses";
 *
 * assert.equal(openaiChatgptResponses.api, "openai-chatgpt-responses");
 * ```
 */
export const openaiChatgptResponses: WireDriver = {
  kind: "wire",
  api: "openai-chatgpt-responses",
  buildRequest: buildChatgptRequest,
  createDecoder: createResponsesDecoder,
};

function buildChatgptRequest(call: ModelCall, endpoint: Endpoint): WireRequest {
  const { systemPrompt, sessionId } = call;
  const account = accountOf(endpoint.apiKey);
  return writeRequest(call, endpoint, {
    headers: {
      ...bearer(endpoint),
      "openai-beta": "responses=experimental",
      ...(account !== undefined && { "chatgpt-account-id": account }),
      ...(sessionId !== undefined && { session_id: sessionId }),
    },
    // The backend refuses a call without any.
    fields: { instructions: systemPrompt.trim() === "" ? "Answer the user." : systemPrompt },
    takesTemperature: false,
  });
}

/** The account that an access token is for; undefined for any other key. */
function accountOf(token: string | undefined): string | undefined {
  const claims = Object.values(claimsOf(token?.split(".")[1] ?? "")).filter(isRecord);
  const account = claims.find(({ chatgpt_account_id: id }) => id !== undefined)?.chatgpt_account_id;
  return typeof account === "string" && account !== "" ? account : undefined;
}

function claimsOf(part: string): Record<string, unknown> {
  try {
    const claims: unknown = JSON.parse(atob(part.replaceAll("-", "+").replaceAll("_", "/")));
    return isRecord(claims) ? claims : {};
  } catch {
    return {};
  }
}
