import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, ToolDefinition } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { checkRequest } from "../testing/emulators.ts";
import { anthropicMessages } from "./anthropic-messages.ts";

const PNG = "iVBORw0KGgo=";
const endpoint = { baseUrl: "https://api.anthropic.com/v1", apiKey: "key-1" };
const image = { type: "image" as const, data: PNG, mimeType: "image/png" };
const read: ToolDefinition = {
  name: "read",
  description: "Reads.",
  parameters: { type: "object", properties: { path: { type: "string" } } },
};

function callOf(options: Partial<ModelCall> & { id?: string } = {}): ModelCall {
  const { id = "claude-opus-4-6", ...rest } = options;
  return {
    model: {
      provider: "anthropic",
      api: "anthropic-messages",
      id,
      contextWindow: 200_000,
      maxOutputTokens: 8000,
    },
    systemPrompt: "Be brief.",
    messages: [{ role: "user", content: "Hi" }],
    tools: [],
    cache: { retention: "none" },
    signal: new AbortController().signal,
    ...rest,
  };
}

interface Body {
  messages: { role: string; content: Record<string, unknown>[] }[];
  [field: string]: unknown;
}

/** The body, which must break no rule. */
function bodyOf(options: Partial<ModelCall> & { id?: string } = {}): Body {
  const request = anthropicMessages.buildRequest(callOf(options), endpoint);
  const body = JSON.parse(request.body) as Body;
  expect(checkRequest({ api: "anthropic-messages", body, headers: request.headers })).toEqual([]);
  return body;
}

const assistant = (
  content: AssistantMessage["content"],
  more: Partial<AssistantMessage> = {},
): AssistantMessage => ({ role: "assistant", content, stopReason: "stop", ...more });
const asks = (id: string) => ({ type: "toolCall" as const, id, name: "read", arguments: { a: 1 } });
const result = (
  id: string,
  content: (typeof image | { type: "text"; text: string })[],
  isError = false,
): AgentMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "read",
  content,
  isError,
});
const text = (words: string) => ({ type: "text" as const, text: words });
const step = (...results: AgentMessage[]): AgentMessage[] => [
  { role: "user", content: "Go" },
  assistant([asks("toolu_a"), asks("toolu_b")], { stopReason: "toolUse" }),
  ...results,
];

describe("a request of Messages", () => {
  it("goes to the messages of the base URL, with key and version in its headers", () => {
    const { url, headers, method } = anthropicMessages.buildRequest(callOf(), endpoint);
    expect({ url, method }).toEqual({
      url: "https://api.anthropic.com/v1/messages",
      method: "POST",
    });
    expect(headers).toEqual({
      "content-type": "application/json",
      accept: "text/event-stream",
      "anthropic-version": "2023-06-01",
      "x-api-key": "key-1",
    });
  });

  it("has the reply's limit, the system prompt and the tools", () => {
    const body = bodyOf({ tools: [read], maxOutputTokens: 500, temperature: 0.3 });
    expect(body).toEqual({
      model: "claude-opus-4-6",
      max_tokens: 500,
      tools: [{ name: "read", description: "Reads.", input_schema: read.parameters }],
      system: [{ type: "text", text: "Be brief." }],
      temperature: 0.3,
      stream: true,
      messages: [{ role: "user", content: [text("Hi")] }],
    });
    expect(bodyOf({ systemPrompt: " " })).not.toHaveProperty("system");
    expect(bodyOf({ temperature: 1.7 }).temperature).toBe(1);
  });

  it("has all results of a step in one message, before what else the person says", () => {
    const messages = [
      ...step(result("toolu_a", [text("one"), image]), result("toolu_b", [])),
      { role: "user" as const, content: "And?" },
    ];
    expect(bodyOf({ messages, tools: [read] }).messages).toEqual([
      { role: "user", content: [text("Go")] },
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "toolu_a", name: "read", input: { a: 1 } },
          { type: "tool_use", id: "toolu_b", name: "read", input: { a: 1 } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "toolu_a",
            content: [
              text("one"),
              { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
            ],
          },
          { type: "tool_result", tool_use_id: "toolu_b", content: [text("(no output)")] },
          text("And?"),
        ],
      },
    ]);
  });

  it("has only text in a failed result, and its images behind all results", () => {
    const messages = step(result("toolu_a", [image], true), result("toolu_b", [text("two")]));
    const blocks = bodyOf({ messages, tools: [read] }).messages.at(-1)!.content;
    expect(blocks.map(({ type }) => type)).toEqual(["tool_result", "tool_result", "text", "image"]);
    expect(blocks[0]).toMatchObject({ is_error: true, content: [{ type: "text" }] });
  });

  it("tells a model without eyes that an image was left out", () => {
    const call = callOf({ messages: [{ role: "user", content: [image] }] });
    const blind = { ...call, model: { ...call.model, acceptsImages: false } };
    const { body } = anthropicMessages.buildRequest(blind, endpoint);
    expect(body).toContain("this model takes no images");
    expect(body).not.toContain(PNG);
  });

  it("has thinking, hidden thinking and what the provider did itself as they came", () => {
    const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
    const messages = [
      { role: "user" as const, content: "Go" },
      assistant([
        { type: "thinking", thinking: "Hm.", thinkingSignature: "c2ln", carrier: "signed" },
        { type: "redacted_thinking", data: "b3BhcXVl" },
        {
          type: "provider",
          api: "anthropic-messages",
          provider: "anthropic",
          model: "claude-opus-4-6",
          kind: "server_tool_use",
          data: search,
        },
        text("Done."),
      ]),
      { role: "user" as const, content: "More" },
    ];
    expect(bodyOf({ messages }).messages[1]!.content).toEqual([
      { type: "thinking", thinking: "Hm.", signature: "c2ln" },
      { type: "redacted_thinking", data: "b3BhcXVl" },
      search,
      text("Done."),
    ]);
  });

  it("leaves out thinking without a signature, and replies that say nothing", () => {
    const messages = [
      { role: "user" as const, content: "Go" },
      assistant([{ type: "thinking", thinking: "Hm." }]),
      { role: "user" as const, content: "More" },
    ];
    expect(bodyOf({ messages }).messages).toEqual([
      { role: "user", content: [text("Go"), text("More")] },
    ]);
  });

  it("gives a tool whose arguments are one of several objects a schema the wire takes", () => {
    const parameters = {
      oneOf: [
        { properties: { a: { type: "string" } }, required: ["a"] },
        { properties: { b: {} } },
      ],
    };
    expect(bodyOf({ tools: [{ ...read, parameters }] }).tools).toEqual([
      {
        name: "read",
        description: "Reads.",
        input_schema: { type: "object", properties: { a: { type: "string" }, b: {} } },
      },
    ]);
  });

  it("merges the betas of its own with those a person turned on", () => {
    const { headers } = anthropicMessages.buildRequest(callOf({ id: "claude-opus-5-5" }), {
      ...endpoint,
      headers: { "Anthropic-Beta": "files-api-2025-04-14" },
    });
    expect(headers["anthropic-beta"]).toBe(
      "files-api-2025-04-14,thinking-binding-controls-2026-08-01",
    );
  });

  it("is the same bytes for the same call", () => {
    const build = () => anthropicMessages.buildRequest(callOf({ tools: [read] }), endpoint);
    expect(build()).toEqual(build());
  });
});

describe("what a request of Messages asks", () => {
  const thinkingOf = (options: Parameters<typeof bodyOf>[0]) => {
    const { thinking, output_config } = bodyOf(options);
    return { thinking, ...(output_config !== undefined && { output_config }) };
  };

  it("is nothing of a model's thinking, unless the call does", () => {
    expect(thinkingOf({})).toEqual({ thinking: undefined });
    expect(thinkingOf({ reasoning: { effort: "off" } })).toEqual({
      thinking: { type: "disabled" },
    });
  });

  it.each([
    [{ effort: "minimal" as const }, 1024],
    [{ effort: "medium" as const }, 4000],
    [{ effort: "max" as const }, 6400],
    [{ budgetTokens: 2000 }, 2000],
    [{ budgetTokens: 100_000 }, 7999],
    [{ budgetTokens: 5 }, 1024],
  ])("for %o is a budget of %i where the model takes tokens", (reasoning, budget_tokens) => {
    expect(thinkingOf({ reasoning })).toEqual({ thinking: { type: "enabled", budget_tokens } });
  });

  it("is no thinking where the reply has no room for it", () => {
    const options = { reasoning: { effort: "high" as const }, maxOutputTokens: 1024 };
    expect(thinkingOf(options)).toEqual({ thinking: undefined });
  });

  it("is no budget in the middle of a step that began without thinking", () => {
    const messages = step(result("toolu_a", [text("1")]), result("toolu_b", [text("2")]));
    const reasoning = { effort: "high" as const };
    expect(thinkingOf({ messages, reasoning, tools: [read] })).toEqual({ thinking: undefined });
  });

  it("is adaptive with an effort where the model decides, with a way out of a changed prefix", () => {
    const block_binding = { prefix_mismatch_behavior: "drop_block" };
    expect(
      thinkingOf({ id: "claude-opus-5-5", reasoning: { effort: "high", display: "none" } }),
    ).toEqual({
      thinking: { type: "adaptive", display: "omitted", block_binding },
      output_config: { effort: "high" },
    });
    expect(thinkingOf({ id: "claude-opus-5-5", reasoning: { effort: "off" } })).toEqual({
      thinking: { type: "adaptive", block_binding },
      output_config: { effort: "low" },
    });
  });

  it("names no beta to a server that is not Anthropic's", () => {
    const call = callOf({ id: "claude-opus-5-5" });
    const elsewhere = { ...call, model: { ...call.model, provider: "proxy-x" } };
    const { headers, body } = anthropicMessages.buildRequest(elsewhere, {
      baseUrl: "http://127.0.0.1:1234/v1",
    });
    expect(headers).not.toHaveProperty("anthropic-beta");
    expect(body).not.toContain("block_binding");
  });

  it("is no temperature of a model that thinks", () => {
    const temperature = 0.2;
    expect(bodyOf({ temperature, reasoning: { effort: "low" } })).not.toHaveProperty("temperature");
    expect(bodyOf({ temperature, id: "claude-opus-5-5" })).not.toHaveProperty("temperature");
  });

  it.each([
    ["auto" as const, undefined, { type: "auto" }],
    ["none" as const, false, { type: "none" }],
    ["required" as const, undefined, { type: "any" }],
    [{ name: "read" }, false, { type: "tool", name: "read", disable_parallel_tool_use: true }],
    [undefined, false, { type: "auto", disable_parallel_tool_use: true }],
    [undefined, true, undefined],
  ])("for the choice %o and parallel calls %o is %o", (toolChoice, parallelToolCalls, expected) => {
    const body = bodyOf({
      tools: [read],
      reasoning: { effort: "low" },
      ...(toolChoice !== undefined && { toolChoice }),
      ...(parallelToolCalls !== undefined && { parallelToolCalls }),
    });
    expect(body.tool_choice).toEqual(expected);
  });

  it("forces no call of a model that may not be forced, and none without tools", () => {
    const toolChoice = "required" as const;
    expect(bodyOf({ id: "claude-opus-5-5", tools: [read], toolChoice }).tool_choice).toEqual({
      type: "auto",
    });
    expect(bodyOf({ toolChoice })).not.toHaveProperty("tool_choice");
  });

  it("is a reply that fits a schema, and a class of service", () => {
    const schema = { type: "object" };
    const responseFormat = { type: "json_schema" as const, name: "x", schema };
    expect(bodyOf({ responseFormat, serviceTier: "standard_only" })).toMatchObject({
      output_config: { format: { type: "json_schema", schema } },
      service_tier: "standard_only",
    });
  });
});

describe("the marks for the cache", () => {
  const five = { cache_control: { type: "ephemeral" } };
  const hour = { cache_control: { type: "ephemeral", ttl: "1h" } };
  const messages: AgentMessage[] = [
    { role: "compactionSummary", summary: "Before." },
    { role: "user", content: "Kept" },
    assistant([text("Yes.")]),
    { role: "user", content: "Now" },
  ];

  it("stand on tools, system prompt, what is expected to stay, and the newest message", () => {
    const body = bodyOf({
      messages,
      tools: [read, { ...read, name: "list" }],
      cache: { retention: "long", stableMessages: 1 },
    });
    expect(body.tools).toMatchObject([{ name: "read" }, { name: "list", ...hour }]);
    expect((body.tools as object[])[0]).not.toHaveProperty("cache_control");
    expect(body.system).toMatchObject([hour]);
    expect(body.messages.map(({ content }) => content)).toMatchObject([
      [hour, text("Kept")],
      [text("Yes.")],
      [{ ...text("Now"), ...hour }],
    ]);
    expect(JSON.stringify(body).split("cache_control")).toHaveLength(5);
  });

  it("are made for a short time unless the call says otherwise, or none", () => {
    const { cache: _none, ...call } = callOf({ messages });
    const body = anthropicMessages.buildRequest(call, endpoint).body;
    expect(body).toContain(JSON.stringify(five).slice(1, -1));
    expect(body).not.toContain("ttl");
    expect(anthropicMessages.buildRequest(callOf({ messages }), endpoint).body).not.toContain(
      "cache_control",
    );
  });

  it("move on with a history of frozen messages, and leave nothing behind", () => {
    const frozen = messages.map((message) =>
      Object.freeze(
        "content" in message ? { ...message, content: Object.freeze(message.content) } : message,
      ),
    ) as AgentMessage[];
    const cache = { retention: "short" as const, stableMessages: 1 };
    for (const length of [1, 2, 4]) {
      const grown = bodyOf({ messages: frozen.slice(0, length), cache });
      expect(grown).toEqual(bodyOf({ messages: structuredClone(frozen.slice(0, length)), cache }));
    }
  });

  it("are as many where the newest message is the one that is expected to stay", () => {
    const body = bodyOf({
      messages: messages.slice(0, 1),
      cache: { retention: "short", stableMessages: 1 },
    });
    expect(JSON.stringify(body).split("cache_control")).toHaveLength(3);
  });
});
