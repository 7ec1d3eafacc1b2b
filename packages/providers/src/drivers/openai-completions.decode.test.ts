import { readFileSync } from "node:fs";
import type { ModelCall, StreamEvent } from "@clew/plugin-sdk/host";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeInPieces } from "./__fixtures__/decode-in-pieces.ts";
import { openaiCompletions } from "./openai-completions.ts";

const call: ModelCall = {
  model: {
    provider: "local",
    api: "openai-completions",
    id: "m",
    contextWindow: 8000,
    maxOutputTokens: 1000,
  },
  systemPrompt: "",
  messages: [],
  tools: [],
  signal: new AbortController().signal,
};

const fixture = (name: string) =>
  readFileSync(new URL(`./__fixtures__/openai-completions/${name}.sse`, import.meta.url));

function decode(
  bytes: Uint8Array,
  cuts: readonly number[] = [],
  contentType = "text/event-stream",
): StreamEvent[] {
  return decodeInPieces(openaiCompletions, bytes, {
    call,
    endpoint: { baseUrl: "http://localhost/v1" },
    contentType,
    cuts,
  });
}

const text = (value: string) => new TextEncoder().encode(value);

describe("the bytes of a Chat Completions answer", () => {
  it("become text and a message with usage, cached tokens told apart", () => {
    expect(decode(fixture("text-with-usage"))).toEqual([
      { type: "text", delta: "Grüße, " },
      { type: "text", delta: "Welt 🌍." },
      {
        type: "done",
        message: {
          role: "assistant",
          content: [{ type: "text", text: "Grüße, Welt 🌍." }],
          stopReason: "stop",
          api: "openai-completions",
          provider: "local",
          responseId: "chatcmpl-1",
          model: "m",
          usage: { input: 56, output: 7, cacheRead: 64, cacheWrite: 0, totalTokens: 127 },
          timestamp: 1000,
        },
      },
    ]);
  });

  it("give the same events wherever they are cut, also inside a character", () => {
    for (const name of [
      "text-with-usage",
      "parallel-tool-calls",
      "crlf-comments-no-done",
      "error-in-stream",
    ]) {
      const bytes = fixture(name);
      const whole = decode(bytes);
      const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 40 });
      fc.assert(
        fc.property(cuts, (places) => {
          expect(decode(bytes, places)).toEqual(whole);
        }),
      );
    }
  });

  it("keep interleaved deltas of parallel calls apart", () => {
    const events = decode(fixture("parallel-tool-calls"));
    expect(events.slice(0, 2)).toEqual([
      {
        type: "tool_call",
        call: { type: "toolCall", id: "call_a", name: "read", arguments: { path: "a.txt" } },
      },
      { type: "tool_call", call: { type: "toolCall", id: "call_b", name: "list", arguments: {} } },
    ]);
    expect(events[2]).toMatchObject({ type: "done", message: { stopReason: "toolUse" } });
  });

  it("hold two calls where a server numbers every call 0 and says stop beside them", () => {
    const events = decode(fixture("ollama-tool-calls"));
    expect(events.at(-1)).toMatchObject({
      type: "done",
      message: {
        stopReason: "toolUse",
        content: [
          { type: "thinking", thinking: "Two files.", carrier: "reasoning" },
          { id: "call_x1", arguments: { path: "a" } },
          { id: "call_x2", arguments: { path: "b" } },
        ],
      },
    });
    expect(events.at(-1)).not.toHaveProperty("message.usage");
  });

  it("stream reasoning as thinking", () => {
    const events = decode(fixture("deepseek-reasoning"));
    expect(events.slice(0, 3)).toEqual([
      { type: "thinking", delta: "Let me " },
      { type: "thinking", delta: "count." },
      { type: "text", delta: "Three." },
    ]);
    expect(events.at(-1)).toMatchObject({
      message: {
        content: [
          { type: "thinking", thinking: "Let me count.", carrier: "reasoning_content" },
          { type: "text", text: "Three." },
        ],
        usage: { input: 10, cacheRead: 20, output: 9 },
      },
    });
  });

  it("keep the details of reasoning, piece by piece, and the signature of a call", () => {
    expect(decode(fixture("openrouter-details")).at(-1)).toMatchObject({
      type: "done",
      message: {
        responseId: "gen-1",
        content: [
          {
            type: "thinking",
            thinking: "I must read it.",
            carrier: "reasoning_details",
            carried: [
              {
                type: "reasoning.text",
                text: "I must read it.",
                signature: "U0lH",
                format: "anthropic-claude-v1",
                index: 0,
              },
              { type: "reasoning.encrypted", data: "QUJD", id: "call_1", index: 0 },
            ],
          },
          { type: "toolCall", id: "call_1", arguments: {}, thoughtSignature: "R09P" },
        ],
      },
    });
  });

  it("survive calls that are none", () => {
    const garbage = [7, null, "x", [], { function: "x" }, { id: 5, function: { name: 6 } }];
    for (const tool_calls of [garbage, "none", { 0: {} }]) {
      const chunk = { choices: [{ delta: { tool_calls }, finish_reason: "stop" }] };
      const bytes = new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`);
      expect(decode(bytes).at(-1)?.type).toMatch(/^(?:done|error)$/);
    }
  });

  it("are a whole reply when the finish reason came, though [DONE] and the last empty line did not", () => {
    expect(decode(fixture("crlf-comments-no-done")).at(-1)).toMatchObject({
      type: "done",
      message: { stopReason: "stop" },
    });
  });

  it("are a failed turn when they end without a finish reason, with what had arrived", () => {
    expect(decode(fixture("cut-off")).at(-1)).toMatchObject({
      type: "error",
      error: { kind: "invalid_response" },
      partial: { stopReason: "error", content: [{ type: "text", text: "Half of a" }] },
    });
    expect(decode(text("data: [DONE]\n\n"))).toMatchObject([
      { type: "error", error: { kind: "invalid_response" } },
    ]);
    expect(decode(text(""))).toMatchObject([
      { type: "error", error: { kind: "invalid_response" } },
    ]);
  });

  it("are a failed turn when they carry an error object", () => {
    const events = decode(fixture("error-in-stream"));
    expect(events.at(-1)).toMatchObject({
      type: "error",
      error: { kind: "unavailable" },
      partial: { content: [{ text: "Some" }] },
    });
  });

  it("are a failed turn when a call's arguments cannot be read: no tool runs with guessed ones", () => {
    const events = decode(fixture("malformed-arguments"));
    expect(events.some(({ type }) => type === "tool_call")).toBe(false);
    expect(events.at(-1)).toMatchObject({
      type: "error",
      error: { kind: "invalid_response" },
      partial: { content: [{ text: "Reading." }] },
    });
  });

  it("leave out the call that the length limit cut, and say length", () => {
    expect(decode(fixture("length-inside-call")).at(-1)).toMatchObject({
      type: "done",
      message: { stopReason: "length", content: [{ type: "text", text: "Writing." }] },
    });
  });

  it("are an error when a content filter stopped the reply", () => {
    expect(decode(fixture("content-filter")).at(-1)).toMatchObject({
      type: "error",
      error: { kind: "refused" },
    });
  });

  it("are a failed turn when the server says that it gave up", () => {
    const body =
      'data: {"choices":[{"delta":{"content":"Half"},"finish_reason":"error"}]}\n\ndata: [DONE]\n\n';
    expect(decode(text(body)).at(-1)).toMatchObject({
      type: "error",
      error: { kind: "invalid_response" },
      partial: { content: [{ text: "Half" }] },
    });
  });

  it("may be one JSON document", () => {
    const message = {
      role: "assistant",
      content: "Hi",
      tool_calls: [{ id: "c1", type: "function", function: { name: "now", arguments: "" } }],
    };
    const body = JSON.stringify({
      choices: [{ message, finish_reason: "tool_calls" }],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    });
    expect(decode(text(body), [10, 20], "application/json; charset=utf-8").at(-1)).toMatchObject({
      type: "done",
      message: {
        stopReason: "toolUse",
        content: [{ text: "Hi" }, { id: "c1", arguments: {} }],
        usage: { totalTokens: 5 },
      },
    });
  });

  it("are refused when they are a web page or no JSON", () => {
    const page = decode(text("<html></html>"), [], "text/html");
    expect(page).toMatchObject([
      {
        type: "error",
        error: { kind: "invalid_response", message: expect.stringContaining("/v1") },
      },
    ]);
    expect(decode(text("data: oops\n\ndata: more\n\n"))).toMatchObject([
      { type: "error", error: { kind: "invalid_response" } },
    ]);
  });

  it("give a call without an id a new one", () => {
    const chunk = {
      choices: [
        {
          delta: {
            tool_calls: [{ function: { name: "a", arguments: {} } }, { function: { name: "b" } }],
          },
          finish_reason: "stop",
        },
      ],
    };
    const done = decode(text(`data: ${JSON.stringify(chunk)}\n\n`)).at(-1);
    const ids =
      done?.type === "done"
        ? done.message.content.map((block) => (block.type === "toolCall" ? block.id : ""))
        : [];
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => /^call_\w+$/.test(id))).toBe(true);
  });
});
