import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ModelCall } from "@clew/plugin-sdk/host";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkChatRequest } from "../testing/openai-completions/rules/check.ts";
import type { ChatRuleFlavor } from "../testing/openai-completions/rules/rule.ts";
import { openaiCompletions } from "./openai-completions.ts";

const PNG = "iVBORw0KGgo=";
const baseUrl = "http://127.0.0.1:1234/v1";

function call(messages: readonly AgentMessage[], options: Partial<ModelCall> = {}): ModelCall {
  const model = {
    provider: "local",
    api: "openai-completions",
    id: "m",
    contextWindow: 8000,
    maxOutputTokens: 1000,
    acceptsImages: true,
  };
  return {
    model,
    systemPrompt: "Be brief.",
    messages,
    tools: [],
    signal: new AbortController().signal,
    ...options,
  };
}

function bodyOf(
  messages: readonly AgentMessage[],
  options: Partial<ModelCall> = {},
  flavor?: string,
) {
  const request = openaiCompletions.buildRequest(call(messages, options), {
    baseUrl,
    ...(flavor !== undefined && { flavor }),
  });
  return JSON.parse(request.body) as { messages: unknown[] } & Record<string, unknown>;
}

const assistant = (
  content: Extract<AgentMessage, { role: "assistant" }>["content"],
): AgentMessage => ({
  role: "assistant",
  content,
  stopReason: "stop",
});

const anyCodePoint = fc.nat(0x10ffff).map((code) => String.fromCodePoint(code).toWellFormed());
const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: anyCodePoint }),
  fc.constant("lone \ud800 surrogate"),
);
const textBlock = anyText.map((text) => ({ type: "text" as const, text }));
const imageBlock = fc.constant({ type: "image" as const, data: PNG, mimeType: "image/png" });
const thinkingBlock = anyText.map((thinking) => ({ type: "thinking" as const, thinking }));
const stringDictionary = fc.dictionary(
  fc.string({ minLength: 1 }),
  fc.oneof(anyText, fc.integer(), fc.array(anyText)),
);

/** A user message, an assistant with any blocks, and a result for each of its calls. */
const turn = (index: number) =>
  fc
    .record({
      user: fc.oneof(anyText, fc.array(fc.oneof(textBlock, imageBlock), { maxLength: 3 })),
      said: fc.array(fc.oneof(textBlock, thinkingBlock), { maxLength: 3 }),
      calls: fc.array(
        fc.record({
          arguments: stringDictionary,
          result: fc.array(fc.oneof(textBlock, imageBlock), { maxLength: 2 }),
          isError: fc.boolean(),
        }),
        { maxLength: 3 },
      ),
      note: fc.option(anyText),
    })
    .map(({ user, said, calls, note }): AgentMessage[] => [
      { role: "user", content: user },
      ...(note === null ? [] : [{ role: "custom" as const, customType: "note", content: note }]),
      assistant([
        ...said,
        ...calls.map((one, position) => ({
          type: "toolCall" as const,
          id: `call_${index}_${position}`,
          name: "read",
          arguments: one.arguments,
        })),
      ]),
      ...calls.map((one, position) => ({
        role: "toolResult" as const,
        toolCallId: `call_${index}_${position}`,
        toolName: "read",
        content: one.result,
        isError: one.isError,
      })),
    ]);
const conversation = fc.tuple(turn(0), turn(1), turn(2)).map((turns) => turns.flat());
const tool = {
  name: "read",
  description: "Reads a file.",
  parameters: { type: "object", properties: { path: { type: "string" } } },
};

describe("a Chat Completions request", () => {
  it("breaks no rule of the wire, whatever a well-paired conversation holds", () => {
    const flavors: ChatRuleFlavor[] = ["openai", "groq", "deepseek", "kimi", "compatible"];
    fc.assert(
      fc.property(
        conversation,
        fc.constantFrom(...flavors),
        fc.boolean(),
        (messages, flavor, acceptsImages) => {
          const model = { ...call([]).model, acceptsImages };
          const body = bodyOf(
            messages,
            {
              model,
              tools: [tool],
              maxOutputTokens: 100,
              temperature: 0.5,
              sessionId: "s".repeat(80),
            },
            flavor,
          );
          expect(checkChatRequest(body, flavor)).toEqual([]);
        },
      ),
    );
  });

  it("is the same bytes for the same call", () => {
    const messages: AgentMessage[] = [
      { role: "user", content: "hi" },
      assistant([{ type: "text", text: "hello" }]),
    ];
    const endpoint = { baseUrl, apiKey: "k" };
    expect(openaiCompletions.buildRequest(call(messages), endpoint)).toEqual(
      openaiCompletions.buildRequest(call(messages), endpoint),
    );
  });

  it("streams with usage to baseUrl/chat/completions, signed in when there is a key", () => {
    const request = openaiCompletions.buildRequest(call([{ role: "user", content: "hi" }]), {
      baseUrl: `${baseUrl}/`,
      apiKey: "secret",
      headers: { "X-Title": "clew", Authorization: "Token mine" },
    });
    expect(request.url).toBe(`${baseUrl}/chat/completions`);
    expect(request.headers).toMatchObject({
      authorization: "Token mine",
      "x-title": "clew",
      "content-type": "application/json",
    });
    expect(JSON.parse(request.body)).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hi" },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(
      openaiCompletions.buildRequest(call([]), { baseUrl, apiKey: "secret" }).headers.authorization,
    ).toBe("Bearer secret");
    expect(openaiCompletions.buildRequest(call([]), { baseUrl }).headers).not.toHaveProperty(
      "authorization",
    );
  });

  it("puts images of tool results into a user message after the last result", () => {
    const messages: AgentMessage[] = [
      assistant([
        { type: "toolCall", id: "a", name: "shot", arguments: {} },
        { type: "toolCall", id: "b", name: "read", arguments: {} },
      ]),
      {
        role: "toolResult",
        toolCallId: "a",
        toolName: "shot",
        content: [{ type: "image", data: PNG, mimeType: "image/png" }],
        isError: false,
      },
      {
        role: "toolResult",
        toolCallId: "b",
        toolName: "read",
        content: [{ type: "text", text: "words" }],
        isError: false,
      },
      { role: "user", content: "go on" },
    ];
    expect(bodyOf(messages, { systemPrompt: "" }).messages).toMatchObject([
      { role: "assistant", content: null },
      { role: "tool", tool_call_id: "a", content: "(see the image below)" },
      { role: "tool", tool_call_id: "b", content: "words" },
      {
        role: "user",
        content: [
          { type: "text" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
        ],
      },
      { role: "user", content: "go on" },
    ]);
    expect(bodyOf(messages, { systemPrompt: "" }, "template").messages.slice(3)).toMatchObject([
      {
        role: "user",
        content: [{ type: "text" }, { type: "image_url" }, { type: "text", text: "go on" }],
      },
    ]);
  });

  it("says so where an image cannot be sent", () => {
    const model = { ...call([]).model, acceptsImages: false };
    const image: AgentMessage = {
      role: "user",
      content: [{ type: "image", data: PNG, mimeType: "image/png" }],
    };
    expect(bodyOf([image], { model, systemPrompt: "" }).messages).toEqual([
      { role: "user", content: "[image left out: this model takes no images]" },
    ]);
  });

  it("leaves out assistants that said and asked nothing, and commands kept out of the context", () => {
    const messages: AgentMessage[] = [
      { role: "user", content: "one" },
      assistant([]),
      assistant([{ type: "text", text: " \n" }]),
      assistant([{ type: "thinking", thinking: "hm" }]),
      { role: "bashExecution", command: "ls", output: "", excludeFromContext: true },
      { role: "user", content: "two" },
    ];
    expect(bodyOf(messages, { systemPrompt: "" }).messages).toEqual([
      { role: "user", content: "one" },
      { role: "user", content: "two" },
    ]);
  });

  it("sends thinking back only where it is required", () => {
    const messages = [
      assistant([
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "yes" },
      ]),
    ];
    const sent = (flavor: string) => bodyOf(messages, { systemPrompt: "" }, flavor).messages[0];
    expect(sent("kimi")).toEqual({ role: "assistant", content: "yes", reasoning_content: "hm" });
    for (const flavor of ["openai", "groq", "compatible"])
      expect(sent(flavor)).toEqual({ role: "assistant", content: "yes" });
  });

  it("names the output limit as the endpoint's flavor does, and the host tells the flavor", () => {
    const body = (url: string) =>
      JSON.parse(
        openaiCompletions.buildRequest(
          call([], { maxOutputTokens: 9, temperature: 1, sessionId: "s" }),
          { baseUrl: url },
        ).body,
      );
    expect(body("https://api.openai.com/v1")).toMatchObject({
      max_completion_tokens: 9,
      prompt_cache_key: "s",
    });
    expect(body("https://me.openai.azure.com/openai/v1")).toMatchObject({
      max_completion_tokens: 9,
    });
    expect(body("http://localhost:11434/v1")).toMatchObject({ max_tokens: 9, temperature: 1 });
    expect(body("not a url")).toMatchObject({ max_tokens: 9 });
  });

  it("sends no temperature to OpenAI's reasoning models", () => {
    const model = { ...call([]).model, reasoning: true };
    expect(bodyOf([], { model, temperature: 0.2 }, "openai")).not.toHaveProperty("temperature");
    expect(bodyOf([], { model, temperature: 0.2 }, "compatible")).toMatchObject({
      temperature: 0.2,
    });
  });
});
