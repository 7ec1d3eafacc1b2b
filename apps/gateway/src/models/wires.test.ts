import type { AgentMessage } from "@clew/plugin-sdk/core";
import { bodyOf, buildRequest, DRIVER_APIS } from "@clew/providers";
import {
  checkRequest,
  createEmulator,
  EMULATED_APIS,
  type EmulatorOptions,
} from "@clew/providers/testing";
import { prepareOutboundMessages, sanitizeSessionHistory } from "@clew/transcript-policy";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";

/** A model of each wire, and of what differs among its servers. */
const ROUTES = [
  ["anthropic", "anthropic-messages", "claude-opus-4-5"],
  ["anthropic", "anthropic-messages", "claude-opus-5-5"],
  ["proxy-x", "anthropic-messages", "claude-3-7-sonnet"],
  ["minimax", "anthropic-messages", "MiniMax-M3", "minimax"],
  ["deepseek", "openai-completions", "deepseek-reasoner", "deepseek"],
  ["openai", "openai-completions", "gpt-4.1", "openai"],
  ["openai", "openai-responses", "gpt-5.6"],
  ["openai", "openai-responses", "gpt-4.1"],
  ["proxy-x", "openai-responses", "gpt"],
  ["openai", "openai-chatgpt-responses", "gpt-5.6-codex"],
  ["mistral", "mistral-conversations", "magistral-medium-latest"],
  ["amazon-bedrock", "bedrock-converse-stream", "us.anthropic.claude-opus-5-5-v1:0"],
  ["amazon-bedrock", "bedrock-converse-stream", "anthropic.claude-opus-4-5-20251101-v1:0"],
  ["proxy-x", "bedrock-converse-stream", "eu.anthropic.claude-3-7-sonnet-20250219-v1:0"],
  ["amazon-bedrock", "bedrock-converse-stream", "global.amazon.nova-2-lite-v1:0"],
  ["amazon-bedrock", "bedrock-converse-stream", "us.meta.llama3-3-70b-instruct-v1:0"],
  ["google", "google-generative-ai", "gemini-3-pro-preview"],
  ["google", "google-generative-ai", "gemini-2.5-flash"],
  ["google-vertex", "google-generative-ai", "gemini-3-pro-preview"],
  ["google-vertex", "google-generative-ai", "gemini-2.5-pro"],
  ["google-gemini-cli", "google-gemini-cli", "gemini-3-pro-preview"],
  ["google-antigravity", "google-gemini-cli", "claude-sonnet-4-5"],
] as const;

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mM4IScHAAK2AQUKW6YGAAAAAElFTkSuQmCC";
/** A picture of one point that says truly that it is one. */
const BMP = `Qk06AAAAAAAAADYAAAAoAAAAAQAAAAEAAAABABgAAAAAAAQAAAATCwAAEwsAAAAAAAAAAAAA////AA==`;
const words = fc.constantFrom("hello", "नमस्ते 👋", "half \ud800 of it", "", " ", "x\n");
const ids = fc.constantFrom("call_1", "toolu_1", "call_1|fc_1", "a b", "x".repeat(80), "abcdefghi");
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const signature = maybe(fc.constantFrom("c2ln", "msg_1", "%%", '{"v":1,"id":"msg_1"}', ""));
const textBlock = fc.record({
  type: fc.constant("text"),
  text: words,
  textSignature: signature,
});
const image = fc.constantFrom(
  { type: "image", data: PNG, mimeType: "image/png" },
  { type: "image", data: "%%", mimeType: "image/png" },
  { type: "image", data: "aGVsbG8=", mimeType: "image/bmp" },
  { type: "image", data: BMP, mimeType: "image/bmp" },
);
const said = fc.oneof(
  { weight: 3, arbitrary: textBlock as fc.Arbitrary<unknown> },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("toolCall"),
      id: ids,
      name: fc.constantFrom("read", "look", "bad name!"),
      arguments: fc.constantFrom<unknown>({ path: "a" }, {}, undefined, "text"),
      thoughtSignature: signature,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("thinking"),
      thinking: words,
      thinkingSignature: maybe(
        fc.constantFrom("c2ln", "", '{"id":"rs_1","type":"reasoning","summary":[]}'),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      { type: "redacted_thinking", data: "b3BhcXVl" },
      { type: "redacted_thinking" },
      { type: "provider", api: "x", provider: "y", model: "z", kind: "k", data: { type: "k" } },
      null,
    ),
  },
);
/** What a person says, a plugin puts in, or an older host kept. */
const put = fc.oneof(
  words as fc.Arbitrary<unknown>,
  fc.array(
    fc.oneof(
      { weight: 3, arbitrary: textBlock as fc.Arbitrary<unknown> },
      { weight: 3, arbitrary: image },
      {
        weight: 2,
        arbitrary: fc.constantFrom<unknown>(
          { type: "toolResult", toolCallId: "call_1", content: "told" },
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            content: [{ type: "text", text: "told" }],
          },
          { type: "text" },
          { type: "chart" },
          null,
        ),
      },
    ),
    { maxLength: 3 },
  ),
);
const message = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      role: fc.constant("assistant"),
      content: fc.array(said, { maxLength: 4 }),
      stopReason: fc.constantFrom("stop", "toolUse", "length", "error", "aborted"),
      api: maybe(
        fc.constantFrom(
          ...["anthropic-messages", "openai-responses", "openai-completions"],
          "google-generative-ai",
        ),
      ),
      provider: maybe(fc.constantFrom("anthropic", "openai", "minimax", "google", "google-vertex")),
      model: maybe(fc.constantFrom("claude-opus-4-5", "gpt-5.6", "gemini-3-pro-preview")),
    }) as fc.Arbitrary<unknown>,
  },
  {
    weight: 3,
    arbitrary: fc.record({ role: fc.constant("user"), content: put }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      role: fc.constant("custom"),
      customType: fc.constant("note"),
      content: fc.oneof({ weight: 6, arbitrary: put }, { weight: 1, arbitrary: fc.constant(null) }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      role: fc.constant("toolResult"),
      toolCallId: ids,
      toolName: fc.constantFrom("read", "look"),
      content: fc.array(fc.oneof(textBlock, image, fc.constant(null)), { maxLength: 2 }),
      isError: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      { role: "compactionSummary", summary: "Before.", timestamp: 100 },
      { role: "bashExecution", command: "ls", output: "a" },
    ),
  },
);
/** Whatever a host may have stored; the person has the last word. */
const histories = fc
  .array(message, { maxLength: 14 })
  .map((messages) => [...messages, { role: "user", content: "Go on" }] as AgentMessage[]);

const asked = fc.record(
  {
    reasoning: fc.record({ effort: fc.constantFrom("off", "minimal", "medium", "max") }),
    toolChoice: fc.constantFrom("auto", "none", "required", { name: "read" }),
    parallelToolCalls: fc.boolean(),
    temperature: fc.constantFrom(0, 0.5, 1, 1.4),
    cache: fc.record({
      retention: fc.constantFrom("none", "short", "long"),
      stableMessages: fc.nat(4),
    }),
    maxOutputTokens: fc.constantFrom(10, 1024, 8000),
  },
  { requiredKeys: [] },
);

describe("any history, after the policy", () => {
  it("is tried on every wire that can be emulated", () => {
    const wires = DRIVER_APIS.filter((api) => EMULATED_APIS.includes(api));
    expect(new Set(ROUTES.map(([, api]) => api))).toEqual(new Set(wires));
  });

  it.each(ROUTES)(
    "breaks no rule of %s over %s with %s",
    async (provider, api, id, flavor?: string) => {
      const route = { provider, modelApi: api, modelId: id };
      await fc.assert(
        fc.asyncProperty(histories, asked, async (stored, more) => {
          const replay = await sanitizeSessionHistory({ ...route, messages: stored });
          const { messages } = prepareOutboundMessages({ ...route, messages: replay.messages });
          const request = buildRequest(
            {
              model: { provider, api, id, contextWindow: 200_000, maxOutputTokens: 8000 },
              systemPrompt: "Be brief.",
              messages,
              tools: ["read", "look"].map((name) => ({
                name,
                description: "A tool.",
                parameters: { type: "object", properties: { path: { type: "string" } } },
              })),
              signal: new AbortController().signal,
              ...(more as object),
            },
            { baseUrl: "http://127.0.0.1:9/v1" },
          );
          const found = checkRequest({
            api,
            body: bodyOf(request),
            headers: request.headers,
            path: new URL(request.url).pathname,
            ...(flavor !== undefined && { flavor }),
          });
          // Only older models of Mistral refuse text beside calls.
          expect(found.filter(({ rule }) => rule !== "assistant.both")).toEqual([]);
        }),
      );
    },
  );
});

/** The configuration of a person whose model of this api is an emulated one. */
async function emulatedGateway(api: string, id: string, options: EmulatorOptions) {
  const server = await createEmulator(api, { cacheMinimumTokens: 1, ...options });
  onTestFinished(() => server.close());
  const [provider] = ROUTES.find((route) => route[1] === api)!;
  const gateway = await startTestGateway({
    agents: { defaults: { model: `${provider}/${id}` } },
    models: {
      providers: {
        [provider]: { api, baseUrl: server.baseUrl, apiKey: "key-1", models: [{ id }] },
      },
    },
  });
  return { server, gateway };
}

describe("a gateway", () => {
  it.each([
    ["bedrock-converse-stream", "us.anthropic.claude-opus-5-5-v1:0"],
    ["anthropic-messages", "claude-opus-5-5"],
    ["openai-responses", "gpt-5.6"],
    ["openai-chatgpt-responses", "gpt-5.6-codex"],
    ["google-generative-ai", "gemini-3-pro-preview"],
    ["google-generative-ai", "gemini-2.5-flash"],
    ["google-gemini-cli", "gemini-3-pro-preview"],
  ])("talks over %s to the model a configuration names", async (api, id) => {
    const { server, gateway } = await emulatedGateway(api, id, {
      answers: [
        { thinking: "I look.", toolCalls: [{ name: "read_file", arguments: { path: "x" } }] },
        { thinking: "Good.", text: "There you are." },
        { text: "Again." },
      ],
      keys: ["key-1"],
    });
    expect((await gateway.say("What is here?")).text).toBe("There you are.");
    expect((await gateway.say("And now?")).text).toBe("Again.");
    expect(server.violations).toEqual([]);
    expect(server.requests).toHaveLength(3);
    expect(server.requests.flatMap(({ changes }) => changes)).toEqual([]);
    expect(server.requests[2]!.bill!.read).toBeGreaterThan(0);
  });
});
