import { readFileSync } from "node:fs";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, StreamEvent } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { checkRequest } from "../testing/emulators.ts";
import { mistralConversations } from "./mistral-conversations.ts";

const PNG = "iVBORw0KGgo=";
const endpoint = { baseUrl: "http://127.0.0.1:1234/v1", apiKey: "key-1" };
const read = { name: "read", description: "Reads.", parameters: { type: "object" } };

function callOf(options: Partial<ModelCall> = {}): ModelCall {
  return {
    model: {
      provider: "mistral",
      api: "mistral-conversations",
      id: "magistral-medium-latest",
      contextWindow: 128_000,
      maxOutputTokens: 8000,
    },
    systemPrompt: "Be brief.",
    messages: [{ role: "user", content: "Hi" }],
    tools: [],
    signal: new AbortController().signal,
    ...options,
  };
}

/** The body, which must break no rule. */
function bodyOf(options: Partial<ModelCall> = {}): Record<string, unknown> {
  const { body: json } = mistralConversations.buildRequest(callOf(options), endpoint);
  const body = JSON.parse(json) as Record<string, unknown>;
  const found = checkRequest({ api: "mistral-conversations", body });
  expect(found).toEqual([]);
  return body;
}

describe("a request of Mistral's chat", () => {
  it("has what a call asks in the provider's words", () => {
    expect(
      bodyOf({
        tools: [read],
        toolChoice: "required",
        parallelToolCalls: false,
        maxOutputTokens: 100,
        temperature: 0.5,
        reasoning: { effort: "low" },
        responseFormat: { type: "json" },
        sessionId: "s",
      }),
    ).toEqual({
      model: "magistral-medium-latest",
      tools: [{ type: "function", function: read }],
      tool_choice: "any",
      parallel_tool_calls: false,
      max_tokens: 100,
      temperature: 0.5,
      reasoning_effort: "high",
      response_format: { type: "json_object" },
      prompt_cache_key: "s",
      stream: true,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi" },
      ],
    });
  });

  it("has thinking as one chunk, images in results, and a reply before a person who breaks in", () => {
    const messages: AgentMessage[] = [
      { role: "user", content: "Go" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", thinkingSignature: "c2ln", carrier: "chunk" },
          { type: "thinking", thinking: "So." },
          { type: "toolCall", id: "aaaaaaaaa", name: "read", arguments: { a: 1 } },
        ],
        stopReason: "toolUse",
      },
      {
        role: "toolResult",
        toolCallId: "aaaaaaaaa",
        toolName: "read",
        content: [
          { type: "text", text: "one" },
          { type: "image", data: PNG, mimeType: "image/png" },
        ],
        isError: false,
      },
      { role: "user", content: "Wait" },
    ];
    expect((bodyOf({ messages, tools: [read] }).messages as unknown[]).slice(2)).toEqual([
      {
        role: "assistant",
        content: [
          {
            type: "thinking",
            thinking: [
              { type: "text", text: "Hm." },
              { type: "text", text: "So." },
            ],
            closed: true,
            signature: "c2ln",
          },
        ],
      },
      {
        role: "assistant",
        content: "",
        tool_calls: [
          { id: "aaaaaaaaa", type: "function", function: { name: "read", arguments: '{"a":1}' } },
        ],
      },
      {
        role: "tool",
        tool_call_id: "aaaaaaaaa",
        name: "read",
        content: [
          { type: "text", text: "one" },
          { type: "image_url", image_url: `data:image/png;base64,${PNG}` },
        ],
      },
      { role: "assistant", content: "(seen)" },
      { role: "user", content: "Wait" },
    ]);
  });
});

describe("a history that Mistral would refuse", () => {
  it("has words and calls in two messages, since older models take none with both", () => {
    const messages: AgentMessage[] = [
      { role: "user", content: "Go" },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Reading." },
          { type: "toolCall", id: "aaaaaaaaa", name: "read", arguments: {} },
        ],
        stopReason: "toolUse",
      },
      {
        role: "toolResult",
        toolCallId: "aaaaaaaaa",
        toolName: "read",
        content: [{ type: "text", text: "one" }],
        isError: false,
      },
    ];
    const sent = bodyOf({ messages, tools: [read] }).messages as { role: string }[];
    expect(sent.map(({ role }) => role)).toEqual([
      ...["system", "user", "assistant", "assistant", "tool"],
    ]);
    expect(sent[2]).toEqual({ role: "assistant", content: "Reading." });
    expect(sent[3]).toMatchObject({ content: "", tool_calls: [{ id: "aaaaaaaaa" }] });
  });

  it("begins with a person where no system prompt stands before an assistant", () => {
    const messages: AgentMessage[] = [
      { role: "assistant", content: [{ type: "text", text: "Hello." }], stopReason: "stop" },
      { role: "user", content: "Hi" },
    ];
    const rolesOf = (systemPrompt: string) =>
      (bodyOf({ messages, systemPrompt }).messages as { role: string }[]).map(({ role }) => role);
    expect(rolesOf("")).toEqual(["user", "assistant", "user"]);
    expect(rolesOf("Be brief.")).toEqual(["system", "assistant", "user"]);
  });
});

function decode(bytes: Uint8Array): StreamEvent[] {
  const decoder = mistralConversations.createDecoder({
    call: callOf(),
    endpoint,
    contentType: "text/event-stream",
    now: () => 1000,
  });
  return [...decoder.push(bytes), ...decoder.end()];
}

describe("an answer of Mistral's chat", () => {
  it("becomes thinking in chunks, text, calls and usage", () => {
    const file = new URL(
      "./__fixtures__/mistral-conversations/thinking-text-call.sse",
      import.meta.url,
    );
    const events = decode(readFileSync(file));
    expect(events.map(({ type }) => type)).toEqual([
      "thinking",
      "thinking",
      "text",
      "tool_call",
      "done",
    ]);
    expect(events.at(-1)).toMatchObject({
      message: {
        stopReason: "toolUse",
        content: [
          { thinking: "Zwei Dateien.", thinkingSignature: "c2ln", carrier: "chunk" },
          { text: "Ich lese 🌍." },
          { id: "aaaaaaaaa", arguments: { path: "a.txt" } },
        ],
        usage: { input: 12, cacheRead: 100, output: 40 },
      },
    });
  });

  it("tells of an error by itself, with the status it would have had", () => {
    const told = { object: "error", message: "busy", type: "x", raw_status_code: 503 };
    expect(decode(new TextEncoder().encode(`data: ${JSON.stringify(told)}\n\n`))).toMatchObject([
      { type: "error", error: { kind: "overloaded" } },
    ]);
  });
});
