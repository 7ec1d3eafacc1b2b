import type { AgentMessage, AssistantBlock } from "@clew/plugin-sdk/core";
import type { ModelCall } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { checkRequest } from "../testing/emulators.ts";
import { bedrockConverseStream } from "./bedrock-converse-stream.ts";

const PNG = "iVBORw0KGgo=";
const endpoint = { baseUrl: "https://bedrock-runtime.eu-west-1.amazonaws.com", apiKey: "key-1" };
const read = { name: "read", description: "Reads.", parameters: { type: "object" } };
const READ = {
  toolSpec: {
    name: "read",
    description: "Reads.",
    inputSchema: { json: { type: "object", properties: {} } },
  },
};
const OPUS = "eu.anthropic.claude-opus-4-5-20251101-v1:0";
const BOUND = "global.anthropic.claude-opus-5-5-v1:0";
const NOVA = "us.amazon.nova-2-lite-v1:0";
const LLAMA = "us.meta.llama3-3-70b-instruct-v1:0";
const MARK = { cachePoint: { type: "default" } };

function requestOf({ id = OPUS, ...options }: Partial<ModelCall> & { id?: string } = {}) {
  return bedrockConverseStream.buildRequest(
    {
      model: {
        provider: "amazon-bedrock",
        api: "bedrock-converse-stream",
        id,
        contextWindow: 200_000,
        maxOutputTokens: 8000,
      },
      systemPrompt: "Be brief.",
      messages: [{ role: "user", content: "Hi" }],
      tools: [],
      signal: new AbortController().signal,
      ...options,
    },
    endpoint,
  );
}

/** The body, which must break no rule. */
function bodyOf(options: Parameters<typeof requestOf>[0] = {}): Record<string, unknown> {
  const { body: json, url } = requestOf(options);
  const body = JSON.parse(json) as Record<string, unknown>;
  const path = new URL(url).pathname;
  expect(checkRequest({ api: "bedrock-converse-stream", body, path })).toEqual([]);
  return body;
}

const messagesOf = (messages: readonly AgentMessage[], id?: string) =>
  bodyOf({
    messages,
    tools: [read],
    cache: { retention: "none" },
    ...(id !== undefined && { id }),
  }).messages;

const call = (id: string, args: Record<string, unknown> = {}): AssistantBlock => ({
  type: "toolCall",
  id,
  name: "read",
  arguments: args,
});
const reply = (...content: AssistantBlock[]): AgentMessage => ({
  role: "assistant",
  content,
  stopReason: "toolUse",
});
const result = (
  toolCallId: string,
  content: Extract<AgentMessage, { role: "toolResult" }>["content"],
  isError = false,
): AgentMessage => ({ role: "toolResult", toolCallId, toolName: "read", content, isError });
const text = (words: string) => ({ type: "text" as const, text: words });
const image = { type: "image" as const, data: PNG, mimeType: "image/png" };
const go: AgentMessage = { role: "user", content: "Go" };

describe("a request of Converse", () => {
  it("names the model in its address and signs in with a key, where there is one", () => {
    const { url, headers } = requestOf();
    expect(url).toBe(
      "https://bedrock-runtime.eu-west-1.amazonaws.com/model/eu.anthropic.claude-opus-4-5-20251101-v1%3A0/converse-stream",
    );
    expect(headers.authorization).toBe("Bearer key-1");
  });

  it("is the same bytes for the same call", () => {
    expect(requestOf({ tools: [read] })).toEqual(requestOf({ tools: [read] }));
  });

  it("asks for a reply in one piece where calls are not streamed", () => {
    expect(requestOf({ id: LLAMA }).url).toMatch(/\/converse-stream$/);
    expect(requestOf({ id: LLAMA, tools: [read] }).url).toMatch(/\/converse$/);
    // A history's own calls are told of as tools.
    const messages = [go, reply(call("a")), result("a", [text("one")]), go];
    expect(requestOf({ id: LLAMA, messages }).url).toMatch(/\/converse$/);
    expect(bodyOf({ id: LLAMA, messages })).toHaveProperty("toolConfig");
    expect(requestOf({ id: OPUS, messages }).url).toMatch(/\/converse-stream$/);
  });

  it("has what a call asks in the provider's words", () => {
    expect(
      bodyOf({
        tools: [read],
        toolChoice: { name: "read" },
        parallelToolCalls: false,
        maxOutputTokens: 100,
        temperature: 1.4,
        serviceTier: "flex",
        responseFormat: { type: "json_schema", name: "answer", schema: { type: "object" } },
      }),
    ).toEqual({
      toolConfig: { tools: [READ, MARK], toolChoice: { tool: { name: "read" } } },
      system: [{ text: "Be brief." }, MARK],
      inferenceConfig: { maxTokens: 100, temperature: 1 },
      serviceTier: { type: "flex" },
      outputConfig: {
        textFormat: {
          type: "json_schema",
          structure: { jsonSchema: { name: "answer", schema: '{"type":"object"}' } },
        },
      },
      messages: [{ role: "user", content: [{ text: "Hi" }, MARK] }],
    });
  });

  it("says in the maker's fields what the common ones cannot", () => {
    const own = (options: Parameters<typeof requestOf>[0]) =>
      bodyOf({ tools: [read], ...options }).additionalModelRequestFields;
    expect(own({ toolChoice: "none" })).toEqual({ tool_choice: { type: "none" } });
    expect(own({ parallelToolCalls: false })).toEqual({
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
    });
    expect(own({ id: NOVA, parallelToolCalls: false })).toBeUndefined();
  });

  it("asks for thinking by tokens, by a word or not at all, as the model takes it", () => {
    const asked = (id: string, options: Partial<ModelCall> = {}) => {
      const body = bodyOf({ id, reasoning: { effort: "high" }, temperature: 0.5, ...options });
      return [body.additionalModelRequestFields, body.inferenceConfig];
    };
    expect(asked(OPUS)).toEqual([
      { thinking: { type: "enabled", budget_tokens: 5600 } },
      { maxTokens: 8000 },
    ]);
    expect(asked(BOUND)).toEqual([
      { thinking: { type: "adaptive" }, output_config: { effort: "high" } },
      { maxTokens: 8000 },
    ]);
    expect(asked(NOVA)).toEqual([
      { reasoningConfig: { type: "enabled", maxReasoningEffort: "high" } },
      undefined,
    ]);
    expect(asked(NOVA, { reasoning: { effort: "minimal" } })).toEqual([
      { reasoningConfig: { type: "enabled", maxReasoningEffort: "low" } },
      { maxTokens: 8000, temperature: 0.5 },
    ]);
    expect(asked("openai.gpt-oss-120b-1:0")).toEqual([
      { reasoning_effort: "high" },
      { maxTokens: 8000, temperature: 0.5 },
    ]);
    for (const id of [LLAMA, "anthropic.claude-3-5-sonnet-20241022-v2:0"])
      expect(asked(id)).toEqual([undefined, { maxTokens: 8000, temperature: 0.5 }]);
  });

  it("does not ask a model to think that is told what to call", () => {
    const options = {
      tools: [read],
      toolChoice: "required",
      reasoning: { effort: "high" },
    } as const;
    expect(bodyOf(options).additionalModelRequestFields).toBeUndefined();
  });
});

describe("marks for the cache", () => {
  const history: AgentMessage[] = [go, reply(text("Yes")), { role: "user", content: "On" }];
  const marked = (id: string, retention: "short" | "long") =>
    bodyOf({ id, tools: [read], messages: history, cache: { retention, stableMessages: 1 } });

  it("stand behind tools, system prompt, what stays and the newest message, all of one time", () => {
    const LONG = { cachePoint: { type: "default", ttl: "1h" } };
    expect(marked(OPUS, "long")).toMatchObject({
      toolConfig: { tools: [READ, LONG] },
      system: [{ text: "Be brief." }, LONG],
      messages: [
        { role: "user", content: [{ text: "Go" }, LONG] },
        { role: "assistant", content: [{ text: "Yes" }] },
        { role: "user", content: [{ text: "On" }, LONG] },
      ],
    });
  });

  it("are of the short time where the model knows no other", () => {
    expect(marked("anthropic.claude-3-7-sonnet-20250219-v1:0", "long").system).toEqual([
      { text: "Be brief." },
      MARK,
    ]);
  });

  it("stand where a model takes them: behind the system prompt only, or nowhere", () => {
    expect(JSON.stringify(marked(NOVA, "short")).match(/cachePoint/g)).toHaveLength(1);
    expect(marked(NOVA, "short").system).toEqual([{ text: "Be brief." }, MARK]);
    for (const id of [LLAMA, "anthropic.claude-3-haiku-20240307-v1:0"])
      expect(JSON.stringify(marked(id, "short"))).not.toContain("cachePoint");
  });
});

describe("a history over Converse", () => {
  it("has what users say in a row as one message, results first", () => {
    const messages = [
      go,
      { role: "user" as const, content: [text(" "), image] },
      reply(text("Both."), call("a", { path: "x" }), call("b")),
      result("a", [text("one"), image]),
      result("b", []),
      { role: "user" as const, content: "Wait" },
    ];
    expect(messagesOf(messages)).toEqual([
      {
        role: "user",
        content: [{ text: "Go" }, { image: { format: "png", source: { bytes: PNG } } }],
      },
      {
        role: "assistant",
        content: [
          { text: "Both." },
          { toolUse: { toolUseId: "a", name: "read", input: { path: "x" } } },
          { toolUse: { toolUseId: "b", name: "read", input: {} } },
        ],
      },
      {
        role: "user",
        content: [
          {
            toolResult: {
              toolUseId: "a",
              content: [{ text: "one" }, { image: { format: "png", source: { bytes: PNG } } }],
            },
          },
          { toolResult: { toolUseId: "b", content: [{ text: "(no output)" }] } },
          { text: "Wait" },
        ],
      },
    ]);
  });

  it("lets the model speak between results and a person, where one message may not hold both", () => {
    const said = messagesOf([go, reply(call("a")), result("a", []), go], NOVA) as object[];
    expect(said.slice(2)).toMatchObject([
      { role: "user", content: [{ toolResult: {} }] },
      { role: "assistant", content: [{ text: "(seen)" }] },
      { role: "user", content: [{ text: "Go" }] },
    ]);
  });

  it("moves images of a failed tool behind all results, for models that want text there", () => {
    const messages = [
      go,
      reply(call("a"), call("b")),
      result("a", [image], true),
      result("b", [text("fine")]),
    ];
    const [, , answered] = messagesOf(messages) as { content: object[] }[];
    expect(answered?.content).toEqual([
      {
        toolResult: {
          toolUseId: "a",
          content: [{ text: "(the tool failed; see the images below)" }],
          status: "error",
        },
      },
      { toolResult: { toolUseId: "b", content: [{ text: "fine" }] } },
      { text: "Images from the failed tool above:" },
      { image: { format: "png", source: { bytes: PNG } } },
    ]);
  });

  it("has thinking as it came for models that read it, and none for others", () => {
    const messages = [
      go,
      reply(
        { type: "thinking", thinking: "Hm.", thinkingSignature: "c2ln", carrier: "signed" },
        { type: "redacted_thinking", data: "AAEC" },
        { type: "thinking", thinking: "Unsigned." },
        call("a"),
      ),
      result("a", []),
    ];
    const thoughts = (id: string) =>
      (messagesOf(messages, id) as { content: object[] }[])[1]?.content.slice(0, -1);
    expect(thoughts(OPUS)).toEqual([
      { reasoningContent: { reasoningText: { text: "Hm.", signature: "c2ln" } } },
      { reasoningContent: { redactedContent: "AAEC" } },
    ]);
    expect(thoughts(NOVA)).toEqual([]);
  });

  it("tells of the tools it names when none can be called now: it is refused without", () => {
    const messages = [go, reply(call("a")), result("a", []), go];
    expect(bodyOf({ messages, cache: { retention: "none" } }).toolConfig).toEqual({
      tools: [
        {
          toolSpec: {
            name: "read",
            description: "Was used before; cannot be used now.",
            inputSchema: { json: { type: "object", properties: {} } },
          },
        },
      ],
    });
    expect(bodyOf({ id: NOVA, tools: [read], toolChoice: "none" }).toolConfig).toBeUndefined();
  });

  it("names blank keys of arguments, and shows no image that the wire does not know", () => {
    const odd = { ...image, mimeType: "image/tiff" };
    const messages = [
      { role: "user" as const, content: [odd] },
      reply(call("a", { list: [{ "": 1, b: 2 }] })),
      result("a", []),
    ];
    expect(messagesOf(messages)).toMatchObject([
      { content: [{ text: "[image left out: this provider takes PNG, JPEG, GIF and WebP]" }] },
      { content: [{ toolUse: { input: { list: [{ "(blank)": 1, b: 2 }] } } }] },
      {},
    ]);
  });
});
