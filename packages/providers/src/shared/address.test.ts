import { describe, expect, it } from "vitest";
import { buildRequest } from "../build-request.ts";
import { addressAt } from "./address.ts";

describe("an address", () => {
  it.each([
    ["http://h/v1", "models", "http://h/v1/models"],
    ["http://h/v1//", "models", "http://h/v1/models"],
    ["http://h/v1/?api-version=preview", "models", "http://h/v1/models?api-version=preview"],
    ["http://h/v1?a=b#part", "m:go?alt=sse", "http://h/v1/m:go?alt=sse&a=b"],
  ])("of %s has %s before its query", (baseUrl, path, whole) => {
    expect(addressAt({ baseUrl }, path)).toBe(whole);
  });

  it.each([
    "anthropic-messages",
    "bedrock-converse-stream",
    "google-gemini-cli",
    "google-generative-ai",
    "mistral-conversations",
    "openai-chatgpt-responses",
    "openai-completions",
    "openai-responses",
  ])("keeps the query of its base URL over %s", (api) => {
    const limits = { contextWindow: 9000, maxOutputTokens: 100 };
    const { url } = buildRequest(
      {
        model: { provider: "p", api, id: "m", ...limits },
        systemPrompt: "",
        messages: [{ role: "user", content: "Hi" }],
        tools: [],
        signal: new AbortController().signal,
      },
      { baseUrl: "https://h.test/openai/v1?api-version=preview" },
    );
    const { pathname, searchParams } = new URL(url);
    expect(pathname).toMatch(/^\/openai\/v1\/./);
    expect(searchParams.get("api-version")).toBe("preview");
  });
});
