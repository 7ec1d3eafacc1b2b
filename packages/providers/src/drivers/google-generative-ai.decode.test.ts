import { readFileSync } from "node:fs";
import type { ModelCall, StreamEvent } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { googleGenerativeAi } from "./google-generative-ai.ts";

const endpoint = { baseUrl: "http://127.0.0.1:1234/v1beta", apiKey: "key-1" };
const call: ModelCall = {
  model: {
    provider: "google",
    api: "google-generative-ai",
    id: "gemini-3-pro-preview",
    contextWindow: 1_000_000,
    maxOutputTokens: 8000,
  },
  systemPrompt: "",
  messages: [{ role: "user", content: "Hi" }],
  tools: [],
  signal: new AbortController().signal,
};

function decode(bytes: Uint8Array, options: { step?: number; contentType?: string } = {}) {
  const { step = bytes.length, contentType = "text/event-stream" } = options;
  const decoder = googleGenerativeAi.createDecoder({
    call,
    endpoint,
    contentType,
    now: () => 1000,
  });
  const events: StreamEvent[] = [];
  for (let at = 0; at < bytes.length; at += step)
    events.push(...decoder.push(bytes.subarray(at, at + step)));
  return [...events, ...decoder.end()];
}

const text = (value: string) => new TextEncoder().encode(value);
/** An answer of these chunks, each with parts and what else a candidate says. */
const streamed = (...chunks: [parts: object[], more?: object][]) =>
  decode(
    text(
      chunks
        .map(([parts, more]) => ({ candidates: [{ content: { role: "model", parts }, ...more }] }))
        .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
        .join(""),
    ),
  );
const contentOf = (events: StreamEvent[]) => {
  const last = events.at(-1);
  return last?.type === "done" ? last.message.content : last;
};
const STOP = { finishReason: "STOP" };

describe("an answer of Gemini", () => {
  it.each([1, 7, 100_000])("is the same however it is cut (%i bytes)", (step) => {
    const file = new URL(
      "./__fixtures__/google-generative-ai/thought-text-calls.sse",
      import.meta.url,
    );
    const events = decode(readFileSync(file), { step });
    expect(events.map(({ type }) => type)).toEqual([
      ...["thinking", "thinking", "text", "text"],
      ...["tool_call", "tool_call", "done"],
    ]);
    expect(events.at(-1)).toMatchObject({
      message: {
        stopReason: "toolUse",
        responseId: "Ab_c-1",
        content: [
          { type: "thinking", thinking: "**Zwei** Dateien.", carrier: "thought" },
          { type: "text", text: "Ich lese 🌍." },
          { id: "k3x9qf2a", arguments: { path: "a.txt" }, thoughtSignature: "c2ln" },
          { id: "noidAbc1n1", name: "list", arguments: {} },
        ],
        usage: { input: 12, cacheRead: 100, output: 100, cacheWrite: 0, totalTokens: 212 },
      },
    });
  });

  it("may come as one document", () => {
    const document = {
      candidates: [{ content: { parts: [{ text: "Yes." }] }, finishReason: "STOP" }],
    };
    const events = decode(text(JSON.stringify(document)), { contentType: "application/json" });
    expect(contentOf(events)).toEqual([{ type: "text", text: "Yes." }]);
  });

  it("keeps a signature with what it is of, also when it comes behind it", () => {
    expect(
      contentOf(
        streamed(
          [[{ text: "One" }]],
          [[{ text: "" }, { text: ".", thoughtSignature: "b25l" }]],
          [[{ text: "Two." }]],
          [[{ text: "", thoughtSignature: "dHdv" }], STOP],
        ),
      ),
    ).toEqual([
      { type: "text", text: "One.", textSignature: "b25l" },
      { type: "text", text: "Two.", textSignature: "dHdv" },
    ]);
    expect(
      contentOf(streamed([[{ text: "Hm.", thought: true, thoughtSignature: "aG0=" }], STOP])),
    ).toMatchObject([{ thinking: "Hm.", thinkingSignature: "aG0=", carrier: "thought" }]);
  });

  it("keeps a signature of nothing, and what only Gemini understands, as it came", () => {
    const code = {
      executableCode: { language: "PYTHON", code: "1" },
      thoughtSignature: "Y29kZQ==",
    };
    const alone = { text: "", thoughtSignature: "YWxvbmU=" };
    expect(contentOf(streamed([[code, alone], STOP]))).toMatchObject([
      { type: "provider", kind: "executableCode", data: code },
      { type: "provider", kind: "text", data: alone },
    ]);
  });

  it("that names the same reason with every event goes on to its end", () => {
    expect(contentOf(streamed([[{ text: "A" }], STOP], [[{ text: "B" }], STOP]))).toEqual([
      { type: "text", text: "AB" },
    ]);
  });

  it("that was cut at its length says so", () => {
    expect(streamed([[{ text: "Half" }], { finishReason: "MAX_TOKENS" }]).at(-1)).toMatchObject({
      type: "done",
      message: { stopReason: "length" },
    });
  });

  it.each([
    ["SAFETY", "content filter"],
    ["RECITATION", "content filter"],
    ["PROHIBITED_CONTENT", "content filter"],
    ["MALFORMED_FUNCTION_CALL", "a call of a tool that is none (MALFORMED_FUNCTION_CALL)"],
    ["UNEXPECTED_TOOL_CALL", "although none was offered"],
    ["OTHER", "an answer that it ended itself (OTHER)"],
    ["SOMETHING_NEW", "(SOMETHING_NEW)"],
  ])("that ends for %s is a failed turn with what had arrived", (finishReason, words) => {
    const events = streamed(
      [[{ text: "Half" }]],
      [[{ functionCall: { name: "x" } }], { finishReason }],
    );
    expect(events.at(-1)).toMatchObject({
      type: "error",
      error: { message: expect.stringContaining(words) as string },
      partial: { stopReason: "error", content: [{ type: "text", text: "Half" }] },
    });
  });

  it("to a prompt that is not let through is a failed turn", () => {
    const blocked = { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } };
    expect(decode(text(`data: ${JSON.stringify(blocked)}\n\n`)).at(-1)).toMatchObject({
      type: "error",
      error: { message: expect.stringContaining("content filter") as string },
    });
  });

  it("without a reason for its end broke off", () => {
    expect(streamed([[{ text: "Half" }]]).at(-1)).toMatchObject({
      type: "error",
      error: { kind: "invalid_response" },
    });
  });

  it("with a call that cannot be read runs none", () => {
    expect(
      streamed([[{ functionCall: { name: "read", args: "{}" } }], STOP]).map(({ type }) => type),
    ).toEqual(["error"]);
  });
});

describe("a stream of Gemini that is no stream of events", () => {
  it.each([1, 7, 100_000])("is one list of its pieces (%i bytes)", (step) => {
    const piece = (part: object, more: object = {}) => ({
      candidates: [{ content: { role: "model", parts: [part] }, ...more }],
    });
    const list = [
      piece({ text: "I " }),
      piece({ text: "look." }),
      piece({ functionCall: { name: "look", args: {} } }, STOP),
    ];
    const events = decode(text(JSON.stringify(list)), { step, contentType: "application/json" });
    expect(contentOf(events)).toMatchObject([
      { type: "text", text: "I look." },
      { type: "toolCall", name: "look" },
    ]);
  });

  it("may end in an error, or hold no reply at all", () => {
    const failed = [{ error: { code: 429, message: "Slow down.", status: "RESOURCE_EXHAUSTED" } }];
    const json = { contentType: "application/json" };
    expect(decode(text(JSON.stringify(failed)), json).at(-1)).toMatchObject({
      error: { kind: "rate_limited" },
    });
    for (const list of ["[]", "[1, null, [{}]]"])
      expect(decode(text(list), json).at(-1)).toMatchObject({
        error: { kind: "invalid_response" },
      });
  });
});
