import { readFileSync } from "node:fs";
import type { ModelCall } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { checkRequest } from "../testing/emulators.ts";
import { openaiChatgptResponses } from "./openai-chatgpt-responses.ts";

const call: ModelCall = {
  model: {
    provider: "openai",
    api: "openai-chatgpt-responses",
    id: "gpt-5.6-codex",
    contextWindow: 200_000,
    maxOutputTokens: 8000,
  },
  systemPrompt: "",
  messages: [{ role: "user", content: "Hi" }],
  tools: [],
  maxOutputTokens: 500,
  temperature: 0.5,
  sessionId: "session-1",
  signal: new AbortController().signal,
};
const baseUrl = "http://127.0.0.1:1234/backend-api/codex";
const token = (claims: object) => `x.${btoa(JSON.stringify(claims)).replace(/=+$/, "")}.y`;

const build = (apiKey?: string) =>
  openaiChatgptResponses.buildRequest(call, { baseUrl, ...(apiKey !== undefined && { apiKey }) });

describe("a request to ChatGPT's backend", () => {
  it("has instructions in any case, and neither limit nor temperature", () => {
    const { url, body: json } = build();
    const body = JSON.parse(json) as Record<string, unknown>;
    expect(url).toBe(`${baseUrl}/responses`);
    expect(checkRequest({ api: "openai-chatgpt-responses", body })).toEqual([]);
    expect(body).toMatchObject({ instructions: "Answer the user.", store: false, stream: true });
  });

  it("names the account of its token, and the session", () => {
    const key = token({ "https://auth.example/": { chatgpt_account_id: "acc-1" } });
    expect(build(key).headers).toMatchObject({
      authorization: `Bearer ${key}`,
      "chatgpt-account-id": "acc-1",
      session_id: "session-1",
    });
  });

  it.each([undefined, "sk-plain", "a.b.c", token({ auth: { other: 1 } })])(
    "names no account for the key %s",
    (key) => {
      expect(build(key).headers).not.toHaveProperty("chatgpt-account-id");
    },
  );
});

describe("an answer of ChatGPT's backend", () => {
  it("may end with an event of another name", () => {
    const decoder = openaiChatgptResponses.createDecoder({
      call,
      endpoint: { baseUrl },
      contentType: "text/event-stream",
      now: () => 1000,
    });
    const file = new URL("./__fixtures__/openai-chatgpt-responses/text.sse", import.meta.url);
    expect([...decoder.push(readFileSync(file)), ...decoder.end()]).toMatchObject([
      { type: "text", delta: "Hi." },
      { type: "done", message: { stopReason: "stop", responseId: "resp_2", usage: { input: 5 } } },
    ]);
  });
});
