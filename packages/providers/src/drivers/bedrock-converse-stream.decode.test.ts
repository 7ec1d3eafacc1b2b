import { readFileSync } from "node:fs";
import type { ModelCall, StreamEvent } from "@clew/plugin-sdk/host";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  encodeMessage,
  event,
  exception,
} from "../testing/bedrock-converse-stream/event-stream.ts";
import { decodeInPieces } from "./__fixtures__/decode-in-pieces.ts";
import { bedrockConverseStream } from "./bedrock-converse-stream.ts";

const call: ModelCall = {
  model: {
    provider: "amazon-bedrock",
    api: "bedrock-converse-stream",
    id: "us.anthropic.claude-opus-4-6-v1:0",
    contextWindow: 200_000,
    maxOutputTokens: 8000,
  },
  systemPrompt: "",
  messages: [{ role: "user", content: "Hi" }],
  tools: [],
  signal: new AbortController().signal,
};

function decode(
  bytes: Uint8Array,
  { contentType = "application/vnd.amazon.eventstream", cuts = [] as readonly number[] } = {},
): StreamEvent[] {
  return decodeInPieces(bedrockConverseStream, bytes, {
    call,
    endpoint: { baseUrl: "http://127.0.0.1:1" },
    contentType,
    cuts,
  });
}

/** Written by the provider's own encoder. */
const recorded = readFileSync(
  new URL(
    "./__fixtures__/bedrock-converse-stream/thinking-text-calls.eventstream",
    import.meta.url,
  ),
);
const stream = (...messages: Buffer[]) => decode(Buffer.concat(messages));
const delta = (value: object, contentBlockIndex = 0) =>
  event("contentBlockDelta", { contentBlockIndex, delta: value });
const stop = (contentBlockIndex = 0) => event("contentBlockStop", { contentBlockIndex });
const started = (start: object) => event("contentBlockStart", { contentBlockIndex: 0, start });
const ending = (stopReason: string) => [
  event("messageStop", { stopReason }),
  event("metadata", { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } }),
];

describe("the bytes of a Converse answer", () => {
  it("become signed thinking, text, calls and usage, cached tokens told apart", () => {
    const first = {
      type: "toolCall",
      id: "tooluse_a1",
      name: "read",
      arguments: { path: "a.txt" },
    };
    const second = { type: "toolCall", id: "tooluse_a2", name: "list", arguments: {} };
    expect(decode(recorded)).toEqual([
      { type: "thinking", delta: "Zwei " },
      { type: "thinking", delta: "Dateien." },
      { type: "text", delta: "Ich lese " },
      { type: "text", delta: "🌍." },
      { type: "tool_call", call: first },
      { type: "tool_call", call: second },
      {
        type: "done",
        message: {
          role: "assistant",
          content: [
            {
              type: "thinking",
              thinking: "Zwei Dateien.",
              thinkingSignature: "c2ln",
              carrier: "signed",
            },
            { type: "redacted_thinking", data: "AAEC" },
            { type: "text", text: "Ich lese 🌍." },
            first,
            second,
          ],
          stopReason: "toolUse",
          api: "bedrock-converse-stream",
          provider: "amazon-bedrock",
          model: "us.anthropic.claude-opus-4-6-v1:0",
          usage: { input: 12, output: 40, cacheRead: 100, cacheWrite: 20, totalTokens: 172 },
          timestamp: 1000,
        },
      },
    ]);
  });

  it("give the same events wherever they are cut, also inside a character", () => {
    const whole = decode(recorded);
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: recorded.length - 1 }), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(cuts, (places) => {
        expect(decode(recorded, { cuts: places })).toEqual(whole);
      }),
    );
  });

  it("are no reply once a bit of them is wrong, wherever it is", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: recorded.length * 8 - 1 }), (bit) => {
        const bytes = Uint8Array.from(recorded);
        bytes[bit >> 3]! ^= 1 << (bit & 7);
        const events = decode(bytes);
        expect(events.filter(({ type }) => type === "done" || type === "tool_call")).toEqual([]);
        expect(events.at(-1)).toMatchObject({ error: { kind: "invalid_response" } });
      }),
    );
  });

  it("are a failed turn without their last event, also when they end cleanly", () => {
    const whole = [delta({ text: "Half" }), stop(), ...ending("end_turn")];
    expect(stream(...whole).at(-1)).toMatchObject({ type: "done" });
    for (const kept of [1, 2, 3])
      expect(stream(...whole.slice(0, kept)).at(-1)).toMatchObject({
        type: "error",
        error: { kind: "invalid_response" },
        partial: { content: [{ text: "Half" }], stopReason: "error" },
      });
  });

  it("may be a document, when the model streams no calls", () => {
    const content = [
      { reasoningContent: { reasoningText: { text: "Hm.", signature: "c2ln" } } },
      { text: "So." },
      { toolUse: { toolUseId: "a", name: "read", input: { path: "x" } } },
    ];
    const document = {
      output: { message: { role: "assistant", content } },
      stopReason: "tool_use",
      usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
    };
    const bytes = new TextEncoder().encode(JSON.stringify(document));
    expect(decode(bytes, { contentType: "application/json" }).at(-1)).toMatchObject({
      type: "done",
      message: {
        content: [
          { thinking: "Hm.", thinkingSignature: "c2ln" },
          { text: "So." },
          { type: "toolCall", id: "a", arguments: { path: "x" } },
        ],
        usage: { input: 1, output: 2 },
      },
    });
  });

  it("keep what the provider's own tools did, to be sent back as it came", () => {
    const events = stream(
      started({ toolUse: { toolUseId: "s", name: "grounding", type: "server_tool_use" } }),
      delta({ toolUse: { input: '{"q":1}' } }),
      stop(),
      started({ toolResult: { toolUseId: "s", status: "success", type: "x" } }),
      delta({ toolResult: [{ text: "found" }] }),
      stop(),
      delta({ text: "There." }),
      stop(),
      ...ending("end_turn"),
    );
    expect(events.at(-1)).toMatchObject({
      message: {
        stopReason: "stop",
        content: [
          { type: "provider", data: { toolUse: { name: "grounding", input: { q: 1 } } } },
          { type: "provider", data: { toolResult: { content: [{ text: "found" }] } } },
          { type: "text", text: "There." },
        ],
      },
    });
  });
});

describe("a Converse answer that is no reply", () => {
  it.each([
    ["throttlingException", "rate_limited", 429],
    ["validationException", "invalid_request", 400],
    ["modelStreamErrorException", "unavailable", 424],
    ["modelTimeoutException", "timeout", 408],
    ["internalServerException", "unavailable", 500],
    ["serviceUnavailableException", "overloaded", 503],
    ["somethingNewException", "unavailable", 500],
  ])("is told from %s as %s", (type, kind, status) => {
    const events = stream(delta({ text: "Half" }), exception(type, "no more"));
    expect(events.at(-1)).toMatchObject({
      type: "error",
      error: { kind, status, message: expect.stringContaining("no more") as string },
      partial: { content: [{ text: "Half" }] },
    });
  });

  it("is an overflow with the counts that the provider tells", () => {
    const words =
      "The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum";
    expect(stream(exception("validationException", words)).at(-1)).toMatchObject({
      error: { kind: "overflow", observedTokens: 210_000, windowTokens: 200_000 },
    });
  });

  it("is told from an error of the stream itself", () => {
    const headers = { ":message-type": "error", ":error-message": "gone" };
    expect(stream(encodeMessage(headers, "")).at(-1)).toMatchObject({
      error: { kind: "unavailable" },
    });
  });

  it("is told from the reason why it stopped", () => {
    const reasonOf = (stopReason: string) => stream(...ending(stopReason)).at(-1);
    for (const reason of ["guardrail_intervened", "content_filtered"])
      expect(reasonOf(reason)).toMatchObject({ error: { kind: "refused" } });
    for (const reason of ["malformed_model_output", "malformed_tool_use"])
      expect(reasonOf(reason)).toMatchObject({ error: { kind: "invalid_response" } });
    for (const reason of ["max_tokens", "model_context_window_exceeded"])
      expect(reasonOf(reason)).toMatchObject({ message: { stopReason: "length" } });
  });

  it("has a call whose arguments cannot be read, unless it was cut at the limit", () => {
    const cut = (stopReason: string) =>
      stream(
        started({ toolUse: { toolUseId: "a", name: "read" } }),
        delta({ toolUse: { input: '{"path":' } }),
        stop(),
        ...ending(stopReason),
      ).at(-1);
    expect(cut("tool_use")).toMatchObject({ error: { kind: "invalid_response" } });
    expect(cut("max_tokens")).toMatchObject({ message: { stopReason: "length", content: [] } });
  });

  it("is refused at its first bytes when it claims to be larger than any message", () => {
    const header = Buffer.alloc(16);
    header.writeUInt32BE(2 ** 31, 0);
    expect(decode(header).at(-1)).toMatchObject({ error: { kind: "invalid_response" } });
  });
});

it("puts blocks together whose pieces come in turns", () => {
  const begun = (contentBlockIndex: number, id: string) => {
    const start = { toolUse: { toolUseId: id, name: "read" } };
    return event("contentBlockStart", { contentBlockIndex, start });
  };
  const events = stream(
    delta({ text: "Hel" }, 1),
    begun(2, "t1"),
    begun(3, "t2"),
    delta({ reasoningContent: { text: "Hm" } }, 0),
    delta({ toolUse: { input: '{"a":' } }, 2),
    delta({ toolUse: { input: '{"b":' } }, 3),
    delta({ text: "lo" }, 1),
    delta({ toolUse: { input: "1}" } }, 2),
    delta({ toolUse: { input: "2}" } }, 3),
    delta({ reasoningContent: { signature: "c2ln" } }, 0),
    ...[0, 1, 2, 3].map(stop),
    ...ending("tool_use"),
  );
  expect(events.at(-1)).toMatchObject({
    type: "done",
    message: {
      content: [
        { type: "thinking", thinking: "Hm", thinkingSignature: "c2ln" },
        { type: "text", text: "Hello" },
        { type: "toolCall", id: "t1", arguments: { a: 1 } },
        { type: "toolCall", id: "t2", arguments: { b: 2 } },
      ],
    },
  });
});

it("keeps a call whose end was not told, unless the length limit cut it", () => {
  const open = started({ toolUse: { toolUseId: "t1", name: "read" } });
  const input = delta({ toolUse: { input: '{"a":1}' } });
  expect(stream(open, input, ...ending("tool_use")).at(-1)).toMatchObject({
    message: { content: [{ type: "toolCall", id: "t1", name: "read", arguments: { a: 1 } }] },
  });
  expect(stream(open, input, ...ending("max_tokens")).at(-1)).toMatchObject({
    message: { content: [] },
  });
});
