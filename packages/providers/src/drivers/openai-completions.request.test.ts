import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
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

const assistant = (content: AssistantMessage["content"]): AssistantMessage => ({
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

  describe("sends thinking back", () => {
    const call_1 = { type: "toolCall" as const, id: "call_1", name: "read", arguments: {} };
    const thought = { type: "thinking" as const, thinking: "hm" };
    const answer = { type: "text" as const, text: "yes" };
    const sent = (
      blocks: Parameters<typeof assistant>[0],
      { flavor, provider = "local" }: { flavor?: string; provider?: string } = {},
    ) => {
      const model = { ...call([]).model, provider };
      const messages = [{ ...assistant(blocks), provider: "local" }];
      return bodyOf(messages, { systemPrompt: "", model }, flavor).messages[0];
    };

    it("but not to a server that refuses fields it does not know", () => {
      for (const flavor of ["openai", "groq"])
        expect(sent([thought, answer], { flavor })).toEqual({ role: "assistant", content: "yes" });
    });

    it("in the field it arrived in, and else in the one its server reads", () => {
      expect(sent([thought, answer])).toMatchObject({ reasoning_content: "hm" });
      expect(sent([{ ...thought, carrier: "reasoning" }, answer])).toEqual({
        role: "assistant",
        content: "yes",
        reasoning: "hm",
      });
      expect(
        sent([{ ...thought, carrier: "reasoning" }, answer], {
          flavor: "kimi",
          provider: "moonshot",
        }),
      ).toMatchObject({ reasoning_content: "hm" });
      expect(sent([thought, answer], { provider: "vllm" })).toMatchObject({ reasoning: "hm" });
    });

    it("in the field a server insists on, also when it was stored under its name in another", () => {
      const stored = { ...thought, carrier: "reasoning" as const };
      for (const flavor of ["deepseek", "kimi"]) {
        const message = sent([stored, call_1], { flavor });
        expect(message).toMatchObject({ reasoning_content: "hm" });
        expect(message).not.toHaveProperty("reasoning");
      }
    });

    it("and says that there is none where a call must tell, but never after real thinking", () => {
      const flavor = "deepseek";
      expect(sent([call_1], { flavor })).toMatchObject({ reasoning_content: "" });
      expect(sent([answer], { flavor })).toEqual({ role: "assistant", content: "yes" });
      expect(sent([thought, call_1], { flavor })).toMatchObject({ reasoning_content: "hm" });
      expect(sent([call_1])).not.toHaveProperty("reasoning_content");
    });

    it("with the details it came with, to the router that sent them", () => {
      const carried = [{ type: "reasoning.encrypted", id: "call_1", data: "QUJD", index: 0 }];
      const blocks = [{ ...thought, carrier: "reasoning_details" as const, carried }, call_1];
      const routed = { ...call([]).model, provider: "openrouter", id: "google/gemini-3-pro" };
      const [own, foreign] = ["openrouter", "acme"].map(
        (provider) =>
          bodyOf([{ ...assistant(blocks), provider }], { systemPrompt: "", model: routed })
            .messages[0],
      );
      expect(own).toMatchObject({ reasoning_details: carried });
      expect(own).not.toHaveProperty("reasoning");
      expect(foreign).toMatchObject({ reasoning: "hm" });
      expect(foreign).not.toHaveProperty("reasoning_details");
    });

    it("with the documented stand-in on the first call of another model that Gemini reads", () => {
      const route = (provider: string, id: string) => ({ ...call([]).model, provider, id });
      const signatures = (provider: string, id: string) => {
        const model = route(provider, id);
        const [message] = bodyOf([assistant([call_1, { ...call_1, id: "call_2" }])], {
          ...{ systemPrompt: "", model },
        }).messages as { tool_calls: { extra_content?: unknown }[] }[];
        return message?.tool_calls.map(({ extra_content }) => extra_content);
      };
      const standIn = { google: { thought_signature: "skip_thought_signature_validator" } };
      expect(signatures("gemini", "gemini-3-pro")).toEqual([standIn, undefined]);
      expect(signatures("gemini", "gemini-2.5-pro")).toEqual([undefined, undefined]);
      expect(signatures("openrouter", "google/gemini-3-pro")).toEqual([undefined, undefined]);
    });

    it("with the signature of a call where calls are signed", () => {
      const signed = { ...call_1, thoughtSignature: "QUJD" };
      const model = { ...call([]).model, provider: "gemini", id: "gemini-3-pro" };
      const [message] = bodyOf([assistant([signed])], { systemPrompt: "", model }).messages;
      expect(message).toMatchObject({
        tool_calls: [{ id: "call_1", extra_content: { google: { thought_signature: "QUJD" } } }],
      });
      expect(JSON.stringify(sent([signed]))).not.toContain("QUJD");
    });
  });

  describe("asks for", () => {
    const tools = [{ name: "read", description: "Reads.", parameters: { type: "object" } }];
    const routed = {
      ...call([]).model,
      provider: "openrouter",
      id: "anthropic/claude-opus-4.6",
    };
    const asked = (options: Partial<ModelCall>, url = baseUrl) =>
      JSON.parse(openaiCompletions.buildRequest(call([], options), { baseUrl: url }).body);
    const router = "https://openrouter.ai/api/v1/";

    it("a tool, one call at a time, a form of the reply and a class of service", () => {
      expect(
        asked({
          tools,
          toolChoice: { name: "read" },
          parallelToolCalls: false,
          responseFormat: { type: "json_schema", name: "r", schema: { type: "object" } },
          serviceTier: "flex",
        }),
      ).toMatchObject({
        tool_choice: { type: "function", function: { name: "read" } },
        parallel_tool_calls: false,
        response_format: {
          type: "json_schema",
          json_schema: { name: "r", schema: { type: "object" } },
        },
        service_tier: "flex",
      });
    });

    it("no choice of tools where there are none", () => {
      const body = asked({ toolChoice: "required", parallelToolCalls: true });
      expect(body).not.toHaveProperty("tool_choice");
      expect(body).not.toHaveProperty("parallel_tool_calls");
    });

    it("thinking in each server's words, and of no server that nobody knows to take them", () => {
      const openai = { ...call([]).model, provider: "openai", id: "gpt-5" };
      const ask = (model: ModelCall["model"], reasoning: ModelCall["reasoning"], url?: string) => {
        const { reasoning_effort: effort, reasoning: settings } = asked(
          { model, ...(reasoning && { reasoning }) },
          url,
        );
        return effort ?? settings;
      };
      expect(ask(openai, { effort: "max" })).toBe("xhigh");
      expect(ask(openai, { effort: "off" })).toBe("low");
      expect(ask({ ...openai, id: "gpt-5.5" }, { effort: "off" })).toBe("none");
      expect(ask(routed, { effort: "high", display: "none" }, router)).toEqual({
        effort: "high",
        exclude: true,
      });
      expect(ask(routed, { effort: "low", budgetTokens: 2000 }, router)).toEqual({
        max_tokens: 2000,
      });
      expect(ask(routed, { effort: "off" }, router)).toEqual({ enabled: false });
      expect(ask(call([]).model, { effort: "high" })).toBeUndefined();
    });

    it("no continuation of an answer of a Claude that thinks behind the router, and of no other", () => {
      const history = [
        { role: "user" as const, content: "q" },
        assistant([{ type: "text", text: "a" }]),
      ];
      const roles = (options: Partial<ModelCall>, url: string) =>
        (
          JSON.parse(
            openaiCompletions.buildRequest(call(history, { systemPrompt: "", ...options }), {
              baseUrl: url,
            }).body,
          ) as { messages: { role: string }[] }
        ).messages.map(({ role }) => role);
      const reasoning = { effort: "low" as const };
      expect(roles({ model: routed, reasoning }, router)).toEqual(["user"]);
      expect(roles({ model: routed }, router)).toEqual(["user", "assistant"]);
      expect(roles({ model: routed, reasoning }, baseUrl)).toEqual(["user", "assistant"]);
      const other = { ...routed, id: "qwen/qwen3" };
      expect(roles({ model: other, reasoning }, router)).toEqual(["user", "assistant"]);
    });
  });

  it("is the same, byte for byte, whether a history grew or came at once", () => {
    const endpoint = { baseUrl, flavor: "compatible" };
    fc.assert(
      fc.property(conversation, fc.nat(12), (messages, cut) => {
        const frozen = messages.map((message) => Object.freeze(structuredClone(message)));
        for (const message of frozen) if ("content" in message) Object.freeze(message.content);
        const build = (list: readonly AgentMessage[]) =>
          openaiCompletions.buildRequest(call(list), endpoint).body;
        build(frozen.slice(0, cut));
        expect(build(frozen)).toBe(build(messages));
        expect(build(frozen.slice(0, cut))).toBe(build(messages.slice(0, cut)));
      }),
    );
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
    for (const id of ["gpt-5.5", "o3", "gpt-4.1"]) {
      const model = { ...call([]).model, provider: "openai", id };
      const { temperature } = bodyOf([], { model, temperature: 0.2 }, "openai");
      expect([id, temperature]).toEqual([id, id === "gpt-4.1" ? 0.2 : undefined]);
    }
    expect(bodyOf([], { model, temperature: 0.2 }, "compatible")).toMatchObject({
      temperature: 0.2,
    });
  });
});
