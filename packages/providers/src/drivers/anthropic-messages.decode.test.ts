import { readFileSync } from "node:fs";
import type { ModelCall, StreamEvent } from "@clew/plugin-sdk/host";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeInPieces } from "./__fixtures__/decode-in-pieces.ts";
import { anthropicMessages } from "./anthropic-messages.ts";

const call: ModelCall = {
  model: {
    provider: "anthropic",
    api: "anthropic-messages",
    id: "claude-opus-4-6",
    contextWindow: 200_000,
    maxOutputTokens: 1000,
  },
  systemPrompt: "",
  messages: [],
  tools: [],
  signal: new AbortController().signal,
};

const fixture = (name: string) =>
  readFileSync(new URL(`./__fixtures__/anthropic-messages/${name}.sse`, import.meta.url));

function decode(
  bytes: Uint8Array,
  {
    cuts = [],
    contentType = "text/event-stream",
  }: { cuts?: readonly number[]; contentType?: string } = {},
): StreamEvent[] {
  return decodeInPieces(anthropicMessages, bytes, {
    call,
    endpoint: { baseUrl: "http://localhost/v1" },
    contentType,
    cuts,
  });
}

const bytesOf = (value: string) => new TextEncoder().encode(value);
const sse = (...events: object[]) =>
  bytesOf(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
const contentOf = (events: StreamEvent[]) => {
  const last = events.at(-1);
  return last?.type === "done"
    ? last.message.content
    : last?.type === "error"
      ? last.partial.content
      : undefined;
};
const start = { type: "message_start", message: { id: "msg_1", usage: { input_tokens: 5 } } };
const block = (index: number, content_block: object) => ({
  type: "content_block_start",
  index,
  content_block,
});
const delta = (index: number, value: object) => ({
  type: "content_block_delta",
  index,
  delta: value,
});
const stop = (index: number) => ({ type: "content_block_stop", index });
const ending = (stop_reason: string) => [
  { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 3 } },
  { type: "message_stop" },
];

describe("the bytes of a Messages answer", () => {
  it("become signed thinking, text, calls and usage, cached tokens told apart", () => {
    expect(decode(fixture("thinking-text-calls"))).toEqual([
      { type: "thinking", delta: "Zwei " },
      { type: "thinking", delta: "Dateien." },
      { type: "text", delta: "Ich lese 🌍." },
      {
        type: "tool_call",
        call: { type: "toolCall", id: "toolu_a", name: "read", arguments: { path: "a.txt" } },
      },
      { type: "tool_call", call: { type: "toolCall", id: "toolu_b", name: "list", arguments: {} } },
      {
        type: "done",
        message: {
          role: "assistant",
          content: [
            {
              type: "thinking",
              thinking: "Zwei Dateien.",
              thinkingSignature: "c2lnbg==",
              carrier: "signed",
            },
            { type: "redacted_thinking", data: "b3BhcXVl" },
            { type: "text", text: "Ich lese 🌍." },
            { type: "toolCall", id: "toolu_a", name: "read", arguments: { path: "a.txt" } },
            { type: "toolCall", id: "toolu_b", name: "list", arguments: {} },
          ],
          stopReason: "toolUse",
          api: "anthropic-messages",
          provider: "anthropic",
          model: "claude-opus-4-6",
          responseId: "msg_01",
          usage: { input: 12, output: 40, cacheRead: 100, cacheWrite: 30, totalTokens: 182 },
          timestamp: 1000,
        },
      },
    ]);
  });

  it("give the same events wherever they are cut, also inside a character", () => {
    const bytes = fixture("thinking-text-calls");
    const whole = decode(bytes);
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 40 });
    fc.assert(
      fc.property(cuts, (places) => {
        expect(decode(bytes, { cuts: places })).toEqual(whole);
      }),
    );
  });

  it("keep blocks apart that follow each other, whose borders a signature is bound to", () => {
    const events = decode(
      sse(
        start,
        block(0, { type: "thinking", thinking: "", signature: "" }),
        delta(0, { type: "signature_delta", signature: "one" }),
        stop(0),
        block(1, { type: "thinking", thinking: "", signature: "" }),
        delta(1, { type: "thinking_delta", thinking: "b" }),
        delta(1, { type: "signature_delta", signature: "two" }),
        stop(1),
        ...[2, 3].flatMap((index) => [
          block(index, { type: "text", text: "" }),
          delta(index, { type: "text_delta", text: "t" }),
          stop(index),
        ]),
        ...ending("end_turn"),
      ),
    );
    expect(contentOf(events)).toEqual([
      { type: "thinking", thinking: "", thinkingSignature: "one", carrier: "signed" },
      { type: "thinking", thinking: "b", thinkingSignature: "two", carrier: "signed" },
      { type: "text", text: "t" },
      { type: "text", text: "t" },
    ]);
  });

  it("keep what the provider did itself whole", () => {
    const found = {
      type: "web_search_tool_result",
      tool_use_id: "srvtoolu_1",
      content: [{ url: "x" }],
    };
    const events = decode(
      sse(
        start,
        block(0, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
        delta(0, { type: "input_json_delta", partial_json: '{"query":' }),
        delta(0, { type: "input_json_delta", partial_json: '"clew"}' }),
        stop(0),
        block(1, found),
        stop(1),
        block(2, { type: "compaction" }),
        delta(2, { type: "compaction_delta", content: "Bef", encrypted_content: "gAAA" }),
        delta(2, { type: "compaction_delta", content: "ore." }),
        delta(2, { type: "signature_delta", signature: "c2ln" }),
        stop(2),
        ...ending("end_turn"),
      ),
    );
    expect(contentOf(events)).toMatchObject([
      { kind: "server_tool_use", data: { id: "srvtoolu_1", input: { query: "clew" } } },
      { kind: "web_search_tool_result", data: found },
      {
        kind: "compaction",
        data: {
          ...{ type: "compaction", content: "Before.", encrypted_content: "gAAA" },
          signature: "c2ln",
        },
      },
    ]);
  });

  it("may be one document", () => {
    const document = {
      type: "message",
      id: "msg_2",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "sig" },
        { type: "text", text: "Hi." },
        { type: "tool_use", id: "toolu_1", name: "read", input: { a: 1 } },
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 4, output_tokens: 2 },
    };
    const events = decode(bytesOf(JSON.stringify(document)), { contentType: "application/json" });
    expect(events.map(({ type }) => type)).toEqual(["thinking", "text", "tool_call", "done"]);
    expect(events.at(-1)).toMatchObject({
      message: {
        responseId: "msg_2",
        stopReason: "toolUse",
        content: [{ thinkingSignature: "sig" }, { text: "Hi." }, { arguments: { a: 1 } }],
        usage: { input: 4, output: 2 },
      },
    });
  });

  it.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["something_new", "stop"],
  ])("that stop for %s end with %s", (reason, stopReason) => {
    const events = decode(sse(start, ...ending(reason)));
    expect(events).toMatchObject([{ type: "done", message: { stopReason } }]);
  });
});

describe("a Messages answer that is no reply", () => {
  const half = [
    block(0, { type: "text", text: "" }),
    delta(0, { type: "text_delta", text: "Half" }),
  ];
  const calling = (partial_json: string) => [
    block(0, { type: "tool_use", id: "toolu_1", name: "read", input: {} }),
    delta(0, { type: "input_json_delta", partial_json }),
    stop(0),
  ];

  it.each<[string, object[], string]>([
    ["without its last event", [start, ...half, ending("end_turn")[0]!], "invalid_response"],
    ["refused", [start, ...half, ...ending("refusal")], "refused"],
    [
      "with a call nobody can read",
      [start, ...calling('{"a'), ...ending("tool_use")],
      "invalid_response",
    ],
    ["overloaded", [start, ...half, told("overloaded_error")], "overloaded"],
    ["throttled", [start, told("rate_limit_error")], "rate_limited"],
    ["without the right to ask", [start, told("permission_error")], "auth"],
    ["too late", [start, told("timeout_error")], "unavailable"],
  ])("%s is a failed turn", (_name, events, kind) => {
    const found = decode(sse(...events)).at(-1);
    expect(found).toMatchObject({
      type: "error",
      error: { kind },
      partial: { stopReason: "error" },
    });
  });

  it("keeps what had arrived, but no call", () => {
    const events = decode(
      sse(start, block(0, { type: "text", text: "Half" }), stop(0), ...calling("{}")),
    );
    expect(contentOf(events)).toEqual([{ type: "text", text: "Half" }]);
  });

  it("leaves out a call that the length limit cut", () => {
    const events = decode(sse(start, ...calling('{"a'), ...ending("max_tokens")));
    expect(events).toMatchObject([
      { type: "done", message: { stopReason: "length", content: [] } },
    ]);
  });

  it("may hold anything without being read wrong", () => {
    const anything = fc.array(
      fc.oneof(
        fc.jsonValue(),
        fc.record({
          type: fc.constantFrom(
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_start",
            "message_delta",
            "message",
          ),
          delta: fc.jsonValue(),
          content_block: fc.jsonValue(),
          message: fc.jsonValue(),
          usage: fc.jsonValue(),
        }),
      ),
    );
    fc.assert(
      fc.property(anything, (values) => {
        const events = decode(
          bytesOf(values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join("")),
        );
        expect(events.filter(({ type }) => type === "done" || type === "error")).toHaveLength(1);
      }),
    );
  });
});

function told(type: string) {
  return { type: "error", error: { type, message: "words" } };
}

it("puts blocks together whose pieces come in turns", () => {
  const delta = (index: number, delta: object) => ({ type: "content_block_delta", index, delta });
  const stop = (index: number) => ({ type: "content_block_stop", index });
  const events = decode(
    sse(
      start,
      block(0, { type: "thinking", thinking: "" }),
      block(1, { type: "text", text: "" }),
      delta(1, { type: "text_delta", text: "Hel" }),
      delta(0, { type: "thinking_delta", thinking: "Hm" }),
      block(2, { type: "tool_use", id: "t1", name: "read", input: {} }),
      block(3, { type: "tool_use", id: "t2", name: "look", input: {} }),
      delta(2, { type: "input_json_delta", partial_json: '{"a":' }),
      delta(3, { type: "input_json_delta", partial_json: '{"b":' }),
      delta(1, { type: "text_delta", text: "lo" }),
      delta(2, { type: "input_json_delta", partial_json: "1}" }),
      delta(3, { type: "input_json_delta", partial_json: "2}" }),
      delta(0, { type: "thinking_delta", thinking: "." }),
      delta(0, { type: "signature_delta", signature: "c2ln" }),
      ...[0, 1, 2, 3].map(stop),
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } },
      { type: "message_stop" },
    ),
  );
  expect(contentOf(events)).toEqual([
    { type: "thinking", thinking: "Hm.", carrier: "signed", thinkingSignature: "c2ln" },
    { type: "text", text: "Hello" },
    { type: "toolCall", id: "t1", name: "read", arguments: { a: 1 } },
    { type: "toolCall", id: "t2", name: "look", arguments: { b: 2 } },
  ]);
});

it("keeps calls in the order of their numbers, whichever ends first", () => {
  const events = decode(
    sse(
      start,
      block(0, { type: "tool_use", id: "t1", name: "read", input: {} }),
      block(1, { type: "tool_use", id: "t2", name: "look", input: {} }),
      delta(1, { type: "input_json_delta", partial_json: "{}" }),
      stop(1),
      delta(0, { type: "input_json_delta", partial_json: "{}" }),
      stop(0),
      ...ending("tool_use"),
    ),
  );
  expect(contentOf(events)).toMatchObject([{ id: "t1" }, { id: "t2" }]);
});

it("keeps blocks whose numbers come again in the order in which they came", () => {
  const say = (index: number, text: string) => [
    block(index, { type: "text", text: "" }),
    delta(index, { type: "text_delta", text }),
    stop(index),
  ];
  const events = decode(
    sse(start, ...say(0, "a"), ...say(1, "b"), ...say(0, "c"), ...ending("end_turn")),
  );
  expect(contentOf(events)).toMatchObject([{ text: "a" }, { text: "b" }, { text: "c" }]);
});

it("keeps a call whose end was not told, unless the length limit cut it", () => {
  const open = block(0, { type: "tool_use", id: "t1", name: "read", input: {} });
  const input = delta(0, { type: "input_json_delta", partial_json: '{"a":1}' });
  expect(contentOf(decode(sse(start, open, input, ...ending("tool_use"))))).toEqual([
    { type: "toolCall", id: "t1", name: "read", arguments: { a: 1 } },
  ]);
  const half = delta(0, { type: "input_json_delta", partial_json: '{"a":' });
  expect(decode(sse(start, open, half, ...ending("tool_use"))).at(-1)).toMatchObject({
    type: "error",
  });
  expect(contentOf(decode(sse(start, open, ...ending("max_tokens"))))).toEqual([]);
});
