import { expect, it, onTestFinished } from "vitest";
import { createEmulator, EMULATED_APIS } from "../../testing.ts";

const post = (address: string) => fetch(address, { method: "POST", body: "{" });

it.each([
  ["openai-completions", "/chat/completions"],
  ["openai-completions", "/v1/chat/completions/chat/completions"],
  ["openai-completions", "/foo/bar/chat/completions"],
  ["openai-responses", "/zzz/responses"],
  ["anthropic-messages", "/v1/v1/messages"],
  ["anthropic-messages", "/messages"],
  ["google-generative-ai", "/v9/models/gemini-3-pro:generateContent"],
  ["mistral-conversations", "/v2/chat/completions"],
])("with exact addresses, %s is not at %s", async (api, path) => {
  const server = await createEmulator(api, { exactAddress: true });
  onTestFinished(() => server.close());
  expect((await post(server.url + path)).status).toBe(404);
  expect(server.requests).toEqual([]);
});

it.each([
  ["openai-completions", "/v1/chat/completions"],
  ["openai-completions", "/openai/v1/chat/completions"],
  ["openai-completions", "/api/v1/chat/completions"],
  ["openai-responses", "/v1/responses"],
  ["openai-chatgpt-responses", "/backend-api/codex/responses"],
  ["anthropic-messages", "/v1/messages"],
  ["google-generative-ai", "/v1beta/models/gemini-3-pro:generateContent"],
  [
    "google-generative-ai",
    "/v1/projects/p/locations/global/publishers/google/models/gemini-3-pro:generateContent",
  ],
  ["google-gemini-cli", "/v1internal:generateContent"],
  ["bedrock-converse-stream", "/model/anthropic.claude/converse"],
  ["mistral-conversations", "/v1/chat/completions"],
])("with exact addresses, %s is at %s", async (api, path) => {
  expect(EMULATED_APIS).toContain(api);
  const server = await createEmulator(api, { exactAddress: true });
  onTestFinished(() => server.close());
  expect((await post(server.url + path)).status).not.toBe(404);
  expect(server.requests).toHaveLength(1);
});
