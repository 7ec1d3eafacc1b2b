import { describe, expect, it } from "vitest";
import { createEmulator, EMULATED_APIS } from "../testing/emulators.ts";
import { classifyError } from "./wire-errors.ts";

const origin = { provider: "acme", endpoint: { baseUrl: "https://api.acme.test/v1" } };
const kindOf = (message: string, code = "", status = 400) =>
  classifyError(
    { kind: "http", status, body: JSON.stringify({ error: { message, code } }) },
    origin,
  ).kind;

/** As each provider words it. */
const WORDS = {
  signature: [
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    "messages.3.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
    "messages.1.content.0.thinking.signature: Field required",
    "messages.1.content.0.redacted_thinking.data: Field required",
    "Corrupted thought signature.",
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.",
    "This model doesn't support the reasoningContent.reasoningText.signature field. Remove reasoningContent.reasoningText.signature and try again.",
    "Provider returned error: Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding failed",
    "property 'messages.1.reasoning_content' is unsupported",
  ],
  encrypted_content: [
    "The encrypted content gAAAAABo... could not be verified.",
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
  ],
  pairing: [
    "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
    "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1.",
    "invalid params, tool result's tool id(call_1) not found (2013)",
    "No tool output found for function call call_1.",
    "tool_call_id is not found",
    "'tool_call_id' of 'call_1' not found",
    "No tool call found for function call output with call_id call_1.",
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: x",
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    "Expected toolResult blocks at messages.2.content for the following Ids: x",
    "Not the same number of function calls and responses",
    "Unexpected role 'user' after role 'tool'",
  ],
  reasoning_required: [
    "The `reasoning_content` in the thinking mode must be passed back to the API.",
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
    "Gemini models require OpenRouter reasoning details to be preserved",
  ],
  cache_rejected: [
    "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block",
    "Too many cache points: at most 4",
    "Unknown parameter: 'prompt_cache_key'.",
  ],
  billing: ["Your credit balance is too low to access the API.", "Payment Required"],
  refused: [
    "The response was filtered due to the prompt triggering our content management policy.",
  ],
  not_found: ["The model `gpt-none` does not exist or you do not have access to it."],
  invalid_request: ["Unknown parameter: 'foo'.", "temperature: range: 0..1"],
} as const;

describe("a refusal", () => {
  for (const [kind, texts] of Object.entries(WORDS))
    it.each(texts)(`is known as ${kind} by: %s`, (text) => {
      expect(kindOf(text)).toBe(kind);
    });

  it("is known by its code where the words say little", () => {
    expect(kindOf("no", "invalid_encrypted_content")).toBe("encrypted_content");
    expect(kindOf("no", "content_filter")).toBe("refused");
    expect(kindOf("no", "model_not_found")).toBe("not_found");
    expect(kindOf("no", "insufficient_quota", 429)).toBe("billing");
    expect(kindOf("no", "invalid_api_key")).toBe("auth");
  });

  it("of a server that has too much to do, or wants a pause, is none of the request", () => {
    expect(kindOf("cache_control: the server is overloaded", "", 503)).toBe("overloaded");
    expect(kindOf("thought_signature quota", "", 429)).toBe("rate_limited");
    expect(kindOf("`tool_use` ids were found without", "", 500)).toBe("unavailable");
  });

  it("echoing a long request costs nothing", () => {
    expect(kindOf(`${"x".repeat(100_000)} cache_control`)).toBe("invalid_request");
  });
});

describe.each(EMULATED_APIS)("the server of %s", (api) => {
  it.each([
    [{ fault: "refusal", message: WORDS.signature[0] }, "signature"],
    [{ fault: "refusal", message: WORDS.encrypted_content[0] }, "encrypted_content"],
    [{ fault: "refusal", message: WORDS.pairing[0] }, "pairing"],
    [{ fault: "refusal", message: WORDS.reasoning_required[0] }, "reasoning_required"],
    [{ fault: "refusal", message: WORDS.cache_rejected[0] }, "cache_rejected"],
    [{ fault: "refusal", message: WORDS.refused[0] }, "refused"],
    [{ fault: "refusal", message: WORDS.billing[0] }, "billing"],
    [{ fault: "refusal", status: 402, message: "pay" }, "billing"],
    [{ fault: "refusal", status: 401, message: "no" }, "auth"],
    [{ fault: "refusal", status: 404, message: "no such model" }, "not_found"],
    [{ fault: "rate-limit" }, "rate_limited"],
    [{ fault: "overloaded" }, "overloaded"],
    [{ fault: "overflow", window: 8192 }, "overflow"],
    [{ fault: "status", status: 500 }, "unavailable"],
  ] as const)("refuses by %o as %s", async (fault, kind) => {
    const server = await createEmulator(api, { check: false, answers: [fault] });
    const response = await fetch(server.url + PATHS[api]!, { method: "POST", body: "{}" });
    const failure = {
      kind: "http",
      status: response.status,
      headers: response.headers,
      body: await response.text(),
    } as const;
    await server.close();
    expect(classifyError(failure, origin).kind).toBe(kind);
  });
});

const PATHS: Readonly<Record<string, string>> = {
  "anthropic-messages": "/v1/messages",
  "openai-responses": "/v1/responses",
  "openai-chatgpt-responses": "/backend-api/codex/responses",
  "openai-completions": "/v1/chat/completions",
  "google-generative-ai": "/v1beta/models/m:streamGenerateContent",
  "google-gemini-cli": "/v1internal:streamGenerateContent",
  "bedrock-converse-stream": "/model/m/converse-stream",
  "mistral-conversations": "/v1/chat/completions",
};
