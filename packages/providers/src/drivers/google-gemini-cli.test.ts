import { readFileSync } from "node:fs";
import type { ModelCall } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { checkRequest } from "../testing/emulators.ts";
import { googleGeminiCli } from "./google-gemini-cli.ts";

const endpoint = { baseUrl: "https://cloudcode-pa.googleapis.com", apiKey: "ya29.x", project: "p" };

function callOf(provider: string, id: string): ModelCall {
  return {
    model: {
      provider,
      api: "google-gemini-cli",
      id,
      contextWindow: 1_000_000,
      maxOutputTokens: 8000,
    },
    systemPrompt: "Be brief.",
    messages: [{ role: "user", content: "Hi" }],
    tools: [
      {
        name: "read",
        description: "Reads.",
        parameters: {
          $schema: "https://json-schema.org/draft/2020-12/schema",
          type: "object",
          properties: {
            mode: { const: "all" },
            depth: { type: ["integer", "null"], exclusiveMinimum: 0 },
            filter: { $ref: "#/$defs/filter" },
          },
          required: ["mode", "gone"],
          additionalProperties: false,
          $defs: { filter: { oneOf: [{ type: "string" }, { type: "null" }] } },
        },
      },
    ],
    sessionId: "s",
    signal: new AbortController().signal,
  };
}

function requestOf(provider: string, id: string) {
  const call = callOf(provider, id);
  const request = googleGeminiCli.buildRequest(call, endpoint);
  const body = JSON.parse(request.body) as {
    request: { tools: { functionDeclarations: Record<string, unknown>[] }[] };
  };
  expect(checkRequest({ api: "google-gemini-cli", body })).toEqual([]);
  return { ...request, body };
}

describe("a request of Google's command line client", () => {
  it("has model and project beside it, and a token in its header", () => {
    const { url, headers, body } = requestOf("google-gemini-cli", "gemini-3-pro");
    expect(url).toBe(
      "https://cloudcode-pa.googleapis.com/v1internal:streamGenerateContent?alt=sse",
    );
    expect(headers.authorization).toBe("Bearer ya29.x");
    expect(body).toMatchObject({
      model: "gemini-3-pro",
      project: "p",
      request: {
        session_id: "s",
        systemInstruction: { parts: [{ text: "Be brief." }] },
        contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      },
    });
    expect(body).not.toHaveProperty("userAgent");
  });

  it("tells another maker's model of tools in the schema that the wire knows", () => {
    const { body } = requestOf("google-antigravity", "claude-sonnet-4-5");
    expect(body).toMatchObject({ userAgent: "antigravity" });
    const [declaration] = body.request.tools[0]!.functionDeclarations;
    expect(declaration).toEqual({
      name: "read",
      description: "Reads.",
      parameters: {
        type: "OBJECT",
        properties: {
          mode: { type: "STRING", enum: ["all"] },
          depth: { type: "INTEGER", nullable: true },
          filter: { nullable: true, anyOf: [{ type: "STRING" }] },
        },
        required: ["mode"],
      },
    });
  });
});

describe("an answer in the envelope", () => {
  it("is the one within it", () => {
    const file = new URL("./__fixtures__/google-gemini-cli/thought-call.sse", import.meta.url);
    const decoder = googleGeminiCli.createDecoder({
      call: callOf("google-gemini-cli", "gemini-3-pro"),
      endpoint,
      contentType: "text/event-stream",
      now: () => 1000,
    });
    expect([...decoder.push(readFileSync(file)), ...decoder.end()].at(-1)).toMatchObject({
      type: "done",
      message: {
        stopReason: "toolUse",
        responseId: "Ab_c-2",
        content: [
          { type: "thinking", thinking: "**Zwei Dateien.**" },
          { type: "toolCall", id: "k3x9qf2b", thoughtSignature: "c2ln" },
        ],
        usage: { input: 112, output: 50, totalTokens: 162 },
      },
    });
  });
});
