import { readFileSync } from "node:fs";
import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, StreamEvent, ToolDefinition } from "@clew/plugin-sdk/host";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkRequest } from "../testing/emulators.ts";
import { decodeInPieces } from "./__fixtures__/decode-in-pieces.ts";
import { openaiResponses } from "./openai-responses.ts";

const PNG = "iVBORw0KGgo=";
const endpoint = { baseUrl: "https://models.example.net/v1", apiKey: "key-1" };
const image = { type: "image" as const, data: PNG, mimeType: "image/png" };
const read: ToolDefinition = {
  name: "read",
  description: "Reads.",
  parameters: { type: "object", properties: {} },
};

function callOf(options: Partial<ModelCall> & { id?: string } = {}): ModelCall {
  const { id = "gpt-5.6", ...rest } = options;
  return {
    model: {
      provider: "openai",
      api: "openai-responses",
      id,
      contextWindow: 200_000,
      maxOutputTokens: 8000,
    },
    systemPrompt: "Be brief.",
    messages: [{ role: "user", content: "Hi" }],
    tools: [],
    signal: new AbortController().signal,
    ...rest,
  };
}

/** The body, which must break no rule. */
function bodyOf(options: Partial<ModelCall> & { id?: string } = {}): Record<string, unknown> {
  const { body: json } = openaiResponses.buildRequest(callOf(options), endpoint);
  const body = JSON.parse(json) as Record<string, unknown>;
  expect(checkRequest({ api: "openai-responses", body })).toEqual([]);
  return body;
}

const user = (content: string): AgentMessage => ({ role: "user", content });
const assistant = (content: AssistantMessage["content"]): AssistantMessage => ({
  role: "assistant",
  content,
  stopReason: "stop",
});
const item = {
  id: "rs_1",
  type: "reasoning",
  summary: [{ type: "summary_text", text: "Hm." }],
  encrypted_content: "gAAAA1",
};

describe("a request of Responses", () => {
  it("goes to the responses of the base URL, signed with the key", () => {
    const { url, headers } = openaiResponses.buildRequest(callOf(), endpoint);
    expect(url).toBe("https://models.example.net/v1/responses");
    expect(headers.authorization).toBe("Bearer key-1");
  });

  it("stores nothing, asks for reasoning it can send back, and names the session to the cache", () => {
    expect(bodyOf({ sessionId: "s".repeat(80), tools: [read], maxOutputTokens: 3 })).toEqual({
      model: "gpt-5.6",
      instructions: "Be brief.",
      max_output_tokens: 16,
      tools: [{ type: "function", ...read, strict: false }],
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "s".repeat(64),
      store: false,
      stream: true,
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] }],
    });
    const uncached = { sessionId: "s", cache: { retention: "none" as const } };
    expect(bodyOf(uncached)).not.toHaveProperty("prompt_cache_key");
    expect(bodyOf({ systemPrompt: " " })).not.toHaveProperty("instructions");
  });

  it("has a step as items without ids: reasoning, text with its phase, calls and outputs", () => {
    const messages = [
      user("Go"),
      assistant([
        {
          type: "thinking",
          thinking: "Hm.",
          thinkingSignature: JSON.stringify(item),
          carrier: "item",
        },
        {
          type: "text",
          text: "Looking.",
          textSignature: '{"v":1,"id":"msg_1","phase":"commentary"}',
        },
        { type: "toolCall", id: "call_a|fc_a", name: "read", arguments: { a: 1 } },
        { type: "toolCall", id: "call_b", name: "read", arguments: {} },
      ]),
      ...["call_a|fc_a", "call_b"].map(
        (toolCallId, index): AgentMessage => ({
          role: "toolResult",
          toolCallId,
          toolName: "read",
          content: index === 0 ? [{ type: "text", text: "one" }, image] : [],
          isError: index === 1,
        }),
      ),
    ];
    expect((bodyOf({ messages, tools: [read] }).input as unknown[]).slice(1)).toEqual([
      { type: "reasoning", summary: item.summary, encrypted_content: "gAAAA1" },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "Looking." }],
        phase: "commentary",
      },
      { type: "function_call", call_id: "call_a_fc_a", name: "read", arguments: '{"a":1}' },
      { type: "function_call", call_id: "call_b", name: "read", arguments: "{}" },
      {
        type: "function_call_output",
        call_id: "call_a_fc_a",
        output: [
          { type: "input_text", text: "one" },
          { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${PNG}` },
        ],
      },
      {
        type: "function_call_output",
        call_id: "call_b",
        output: "(the tool failed without a message)",
      },
    ]);
  });

  it("leaves out reasoning that nobody can read, and keeps what the provider did itself", () => {
    const search = { id: "ws_1", type: "web_search_call", status: "completed" };
    const { encrypted_content: _cipher, ...open } = item;
    const messages = [
      user("Go"),
      assistant([
        { type: "thinking", thinking: "Hm.", thinkingSignature: JSON.stringify(open) },
        { type: "thinking", thinking: "Hm.", thinkingSignature: "c2ln" },
        { type: "thinking", thinking: "Hm." },
        {
          type: "provider",
          api: "openai-responses",
          provider: "openai",
          model: "gpt-5.6",
          kind: "web_search_call",
          data: search,
        },
      ]),
      user("More"),
    ];
    expect((bodyOf({ messages }).input as unknown[])[1]).toEqual(search);
    expect(bodyOf({ messages }).input).toHaveLength(3);
  });

  it("asks a model that thinks for an effort, and one that does not for a temperature", () => {
    const reasoning = { effort: "max" as const, display: "summary" as const };
    expect(bodyOf({ reasoning, temperature: 0.5 })).toMatchObject({
      reasoning: { effort: "xhigh", summary: "auto" },
    });
    expect(bodyOf({ temperature: 0.5 })).not.toHaveProperty("temperature");
    const plain = bodyOf({ id: "gpt-4.1", reasoning, temperature: 0.5 });
    expect(plain).toMatchObject({ temperature: 0.5 });
    expect(plain).not.toHaveProperty("reasoning");
    expect(plain).not.toHaveProperty("include");
  });

  it("asks for no thinking in the word the model knows", () => {
    const reasoning = { effort: "off" as const };
    expect(bodyOf({ reasoning }).reasoning).toEqual({ effort: "none" });
    expect(bodyOf({ id: "o4-mini", reasoning }).reasoning).toEqual({ effort: "low" });
  });

  it.each([
    ["auto" as const, "auto"],
    ["required" as const, "required"],
    [{ name: "read" }, { type: "function", name: "read" }],
  ])("has the choice %o as %o, and none without tools", (toolChoice, expected) => {
    const body = bodyOf({ toolChoice, tools: [read], parallelToolCalls: false });
    expect(body).toMatchObject({ tool_choice: expected, parallel_tool_calls: false });
    expect(bodyOf({ toolChoice })).not.toHaveProperty("tool_choice");
  });

  it("has the form of the reply and the class of service", () => {
    const schema = { type: "object" };
    const responseFormat = { type: "json_schema" as const, name: "x", schema };
    expect(bodyOf({ responseFormat, serviceTier: "flex" })).toMatchObject({
      text: { format: { type: "json_schema", name: "x", schema } },
      service_tier: "flex",
    });
    expect(bodyOf({ responseFormat: { type: "json" } }).text).toEqual({
      format: { type: "json_object" },
    });
  });
});

const fixture = readFileSync(
  new URL("./__fixtures__/openai-responses/reasoning-text-calls.sse", import.meta.url),
);

function decode(
  bytes: Uint8Array,
  cuts: readonly number[] = [],
  contentType = "text/event-stream",
): StreamEvent[] {
  return decodeInPieces(openaiResponses, bytes, { call: callOf(), endpoint, contentType, cuts });
}

const bytesOf = (value: string) => new TextEncoder().encode(value);
const sse = (...events: unknown[]) =>
  bytesOf(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
const itemDone = (done: object) => ({ type: "response.output_item.done", item: done });
const ended = (response: object) => ({ type: "response.completed", response });

describe("the bytes of a Responses answer", () => {
  it("become reasoning with its item, text with its phase, calls and usage", () => {
    const events = decode(fixture);
    expect(events.slice(0, -1)).toEqual([
      { type: "thinking", delta: "Zwei" },
      { type: "thinking", delta: "\n\n" },
      { type: "thinking", delta: "Dateien." },
      { type: "text", delta: "Ich lese 🌍." },
      {
        type: "tool_call",
        call: { type: "toolCall", id: "call_a", name: "read", arguments: { path: "a.txt" } },
      },
      { type: "tool_call", call: { type: "toolCall", id: "call_b", name: "list", arguments: {} } },
    ]);
    const last = events.at(-1);
    expect(last).toMatchObject({
      type: "done",
      message: {
        stopReason: "toolUse",
        responseId: "resp_1",
        usage: { input: 12, output: 40, cacheRead: 100, cacheWrite: 30, totalTokens: 182 },
        content: [
          { type: "thinking", thinking: "Zwei\n\nDateien.", carrier: "item" },
          { type: "text", textSignature: '{"v":1,"id":"msg_1","phase":"commentary"}' },
          { id: "call_a" },
          { id: "call_b" },
        ],
      },
    });
    expect(JSON.stringify(last)).toContain("gAAAA1");
  });

  it("give the same events wherever they are cut, also inside a character", () => {
    const whole = decode(fixture);
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: fixture.length - 1 }), { maxLength: 40 });
    fc.assert(
      fc.property(cuts, (places) => {
        expect(decode(fixture, places)).toEqual(whole);
      }),
    );
  });

  it("may be one document, with items only the provider understands", () => {
    const search = { id: "ws_1", type: "web_search_call", status: "completed" };
    const document = {
      object: "response",
      id: "resp_2",
      status: "completed",
      error: null,
      output: [
        item,
        search,
        { id: "msg_2", type: "message", content: [{ type: "refusal", refusal: "No." }] },
      ],
      usage: { input_tokens: 4, output_tokens: 2 },
    };
    const events = decode(bytesOf(JSON.stringify(document)), [], "application/json");
    expect(events.map(({ type }) => type)).toEqual(["thinking", "text", "done"]);
    expect(events.at(-1)).toMatchObject({
      message: {
        stopReason: "stop",
        content: [
          { thinking: "Hm.", thinkingSignature: JSON.stringify(item) },
          { type: "provider", kind: "web_search_call", data: search },
          { text: "No." },
        ],
      },
    });
  });

  it.each<[string, unknown[], object]>([
    [
      "at the length limit",
      [ended({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } })],
      { type: "done", message: { stopReason: "length" } },
    ],
    [
      "filtered",
      [ended({ status: "incomplete", incomplete_details: { reason: "content_filter" } })],
      { error: { kind: "refused" } },
    ],
    [
      "failed",
      [
        {
          type: "response.failed",
          response: { status: "failed", error: { code: "server_error", message: "x" } },
        },
      ],
      { error: { kind: "unavailable" } },
    ],
    ["cancelled", [ended({ status: "cancelled" })], { error: { kind: "invalid_response" } }],
    [
      "too large",
      [{ type: "error", code: "context_length_exceeded", message: "Too long." }],
      { error: { kind: "overflow" } },
    ],
    [
      "with a call nobody can read",
      [
        itemDone({ type: "function_call", call_id: "call_a", name: "read", arguments: '{"a' }),
        ended({ status: "completed" }),
      ],
      { error: { kind: "invalid_response" } },
    ],
    ["without its end", [itemDone(item)], { error: { kind: "invalid_response" } }],
  ])("that end %s are told as what they are", (_name, events, expected) => {
    expect(decode(sse(...events)).at(-1)).toMatchObject(expected);
  });

  it.each([
    ["streamed", (call: object) => [itemDone(call), ended({ status: "completed" })]],
    [
      "in one document",
      (call: object) => [{ object: "response", status: "completed", output: [call] }],
    ],
  ])("have calls with a text for arguments, %s", (_name, eventsOf) => {
    const call = { type: "custom_tool_call", call_id: "call_a", name: "exec", input: '{"a":1}' };
    expect(decode(sse(...eventsOf(call))).at(-1)).toMatchObject({
      type: "done",
      message: {
        stopReason: "toolUse",
        content: [
          { type: "toolCall", id: "call_a", name: "exec", arguments: { input: '{"a":1}' } },
        ],
      },
    });
  });

  it("may hold anything without being read wrong", () => {
    const types = fc.constantFrom(
      "response.created",
      "response.completed",
      "response.output_item.done",
      "response.output_text.delta",
      "response.reasoning_summary_part.added",
      "error",
    );
    const event = fc.record({
      type: types,
      item: fc.jsonValue(),
      delta: fc.jsonValue(),
      response: fc.jsonValue(),
    });
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.jsonValue(), event)), (values) => {
        const finals = decode(sse(...values)).filter(
          ({ type }) => type === "done" || type === "error",
        );
        expect(finals).toHaveLength(1);
      }),
    );
  });
});
