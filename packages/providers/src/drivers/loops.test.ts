import type { AgentMessage, AssistantMessage, ToolCallBlock } from "@clew/plugin-sdk/core";
import type { ModelCall, StreamEvent } from "@clew/plugin-sdk/host";
import { afterEach, describe, expect, it } from "vitest";
import { DRIVER_TABLE } from "../driver-table.ts";
import { completeModel, type StreamModelOptions, streamModel } from "../stream.ts";
import { createEmulator, EMULATED_APIS } from "../testing/emulators.ts";
import type { EmulatorFault } from "../testing/server/fault.ts";
import type { Emulator, EmulatorOptions } from "../testing/server/options.ts";
import type { EmulatedReply } from "../testing/server/reply.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mM4IScHAAK2AQUKW6YGAAAAAElFTkSuQmCC";

/** A model of each wire that thinks, and whose thinking is the most particular. */
const MODELS: Readonly<Record<string, { provider: string; id: string }>> = {
  "anthropic-messages": { provider: "anthropic", id: "claude-opus-5-5" },
  "bedrock-converse-stream": {
    provider: "amazon-bedrock",
    id: "us.anthropic.claude-opus-5-5-v1:0",
  },
  "google-gemini-cli": { provider: "google-gemini-cli", id: "gemini-3-pro-preview" },
  "google-generative-ai": { provider: "google", id: "gemini-3-pro-preview" },
  "mistral-conversations": { provider: "mistral", id: "magistral-medium-latest" },
  "openai-chatgpt-responses": { provider: "openai", id: "gpt-5.6-codex" },
  "openai-completions": { provider: "deepseek", id: "deepseek-reasoner" },
  "openai-responses": { provider: "openai", id: "gpt-5.6" },
};
const WIRES = DRIVER_TABLE.filter(({ kind }) => kind === "wire").map(({ api }) => api);

const servers: Emulator[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function start(api: string, options: EmulatorOptions): Promise<Emulator> {
  const server = await createEmulator(api, {
    cacheMinimumTokens: 1,
    // Only its older models refuse text beside calls.
    tolerant: api === "mistral-conversations",
    ...options,
  });
  servers.push(server);
  return server;
}

function callOf(api: string, messages: readonly AgentMessage[]): ModelCall {
  return {
    model: { ...MODELS[api]!, api, contextWindow: 200_000, maxOutputTokens: 8000 },
    systemPrompt: "Be brief.",
    messages,
    tools: ["read", "look"].map((name) => ({
      name,
      description: `What ${name} does.`,
      parameters: { type: "object", properties: { path: { type: "string" } } },
    })),
    reasoning: { effort: "high", display: "summary" },
    sessionId: "session-1",
    signal: new AbortController().signal,
  };
}

const endpointOf = ({ baseUrl }: Emulator) => ({ baseUrl, apiKey: "key-of-tests" });

async function ask(server: Emulator, messages: readonly AgentMessage[]): Promise<AssistantMessage> {
  const call = callOf(server.api, messages);
  const result = await completeModel({ call, endpoint: endpointOf(server), now: () => 1000 });
  if (!result.ok) throw new Error(result.error.message);
  return result.message;
}

const resultOf = ({ id, name }: ToolCallBlock): AgentMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName: name,
  content: [
    { type: "text", text: `${name} was here` },
    ...(name === "look" ? [{ type: "image" as const, data: PNG, mimeType: "image/png" }] : []),
  ],
  isError: false,
});

/** One turn of a person: asked again until no tool is called. The messages go through JSON. */
async function turn(server: Emulator, before: readonly AgentMessage[], said: string) {
  const messages: AgentMessage[] = [...before, { role: "user", content: said }];
  for (;;) {
    const stored = JSON.parse(JSON.stringify(messages)) as AgentMessage[];
    const reply = await ask(server, stored);
    messages.push(reply);
    const calls = reply.content.filter((block) => block.type === "toolCall");
    if (calls.length === 0) return messages;
    messages.push(...calls.map(resultOf));
  }
}

const call = (name: string, path: string) => ({ name, arguments: { path } });
const SESSION: readonly EmulatedReply[] = [
  { thinking: "Both.", text: "Reading.", toolCalls: [call("read", "a"), call("look", "b")] },
  { thinking: "One more.", toolCalls: [call("read", "c")], chunkChars: 3 },
  { text: "Without a thought.", toolCalls: [call("look", "d")] },
  { thinking: "Enough.", text: "Two files.", chunkChars: 4 },
  { thinking: "Easy.", text: "Yes." },
  { text: "Bye." },
];

const textOf = (messages: readonly AgentMessage[]) =>
  messages.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((block) => (block.type === "text" ? [block.text] : []))
      : [],
  );

const FAULTS: readonly [EmulatorFault, string][] = [
  [{ fault: "status", status: 500 }, "unavailable"],
  [{ fault: "status", status: 401 }, "auth"],
  [{ fault: "overflow", window: 8000 }, "overflow"],
  [{ fault: "rate-limit", retryAfterMs: 2000 }, "rate_limited"],
  [{ fault: "overloaded" }, "overloaded"],
  [{ fault: "html" }, "unavailable"],
  [{ fault: "html", status: 200 }, "invalid_response"],
  [{ fault: "redirect" }, "not_found"],
  [{ fault: "error", text: "Half" }, "unavailable"],
  [{ fault: "cut", text: "Half" }, "network"],
  [{ fault: "unfinished", text: "Half" }, "invalid_response"],
  [{ fault: "truncated", text: "Half" }, "invalid_response"],
  [{ fault: "malformed", text: "Half" }, "invalid_response"],
  [{ fault: "hang", text: "Half" }, "timeout"],
  [{ fault: "hang" }, "timeout"],
  [{ fault: "empty" }, "network"],
  [{ fault: "bomb", bytes: 2 ** 20 }, "invalid_response"],
];

async function gather(options: StreamModelOptions): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of streamModel(options)) events.push(event);
  return events;
}

describe("the wires", () => {
  it("are all tried here", () => {
    expect(Object.keys(MODELS).sort()).toEqual(WIRES);
    expect(EMULATED_APIS).toEqual(expect.arrayContaining(WIRES));
  });
});

describe.each(WIRES)("a session over %s", (api) => {
  it("goes through tools, images and thinking, of which nothing is refused or lost", async () => {
    const server = await start(api, { answers: SESSION });
    const first = await turn(server, [], "How many files?");
    const second = await turn(server, first, "Sure?");
    const all = await turn(server, second, "Bye");
    expect(server.violations).toEqual([]);
    expect(server.requests.flatMap(({ changes }) => changes)).toEqual([]);
    expect(textOf(all)).toEqual(["Reading.", "Without a thought.", "Two files.", "Yes.", "Bye."]);
    expect(server.requests).toHaveLength(SESSION.length);
    expect(server.requests.every(({ text }) => !text.includes("__openclaw"))).toBe(true);
  });

  it("reads its prompt out of the provider's cache from the second call on", async () => {
    const server = await start(api, { answers: SESSION });
    await turn(server, [], "How many files?");
    const [first, ...rest] = server.requests.map(({ bill }) => bill!.read);
    expect(first).toBe(0);
    expect(rest.every((read) => read > 0)).toBe(true);
  });

  it("streams text and thinking as they come", async () => {
    const server = await start(api, {
      answers: [{ thinking: "Hm, well.", text: "Hello there.", chunkChars: 4 }],
    });
    const options = {
      call: callOf(api, [{ role: "user", content: "Hi" }]),
      endpoint: endpointOf(server),
    } as const;
    const events = await gather(options);
    expect(
      events
        .map((event) => ("delta" in event ? [event.type, event.delta] : event.type))
        .slice(0, -1),
    ).toEqual([
      ["thinking", "Hm, "],
      ["thinking", "well"],
      ["thinking", "."],
      ["text", "Hell"],
      ["text", "o th"],
      ["text", "ere."],
    ]);
    expect(events.at(-1)).toMatchObject({ type: "done", message: { usage: { cacheRead: 0 } } });
  });

  it("ends when the caller wants it to, with what had arrived", async () => {
    const server = await start(api, { answers: [{ fault: "hang", text: "Half" }] });
    const controller = new AbortController();
    const call = { ...callOf(api, [{ role: "user", content: "Hi" }]), signal: controller.signal };
    const events: StreamEvent[] = [];
    for await (const event of streamModel({ call, endpoint: endpointOf(server) })) {
      events.push(event);
      if (event.type === "text") controller.abort();
    }
    expect(events.at(-1)).toMatchObject({
      type: "error",
      error: { kind: "aborted" },
      partial: { stopReason: "aborted", content: [{ type: "text", text: "Half" }] },
    });
  });

  it.each(FAULTS)("that meets %o ends as %s, and tells nobody the key", async (fault, kind) => {
    const server = await start(api, { answers: [fault] });
    const events = await gather({
      call: callOf(api, [{ role: "user", content: "Hi" }]),
      endpoint: endpointOf(server),
      retry: { maxRetries: 0 },
      ...(fault.fault === "hang" && { idleTimeoutMs: 100 }),
      answerLimit: { bytes: 100_000, setting: "answerLimit" },
    });
    const last = events.at(-1);
    expect(last).toMatchObject({ type: "error", error: { kind } });
    expect(JSON.stringify(last)).not.toContain("key-of-tests");
    if (fault.fault === "rate-limit" && /^(?:anthropic|google)/.test(MODELS[api]!.provider))
      expect(last).toMatchObject({ error: { retryAfterMs: 2000 } });
    if (fault.fault === "overflow") expect(last).toMatchObject({ error: { windowTokens: 8000 } });
    if (api === "mistral-conversations" && last?.type === "error") {
      expect(last.error.message).not.toContain("Chat Completions");
      if (fault.fault === "overflow")
        expect(last.error).toMatchObject({ observedTokens: expect.any(Number) });
    }
  });
});

describe("a prompt that fits without its reply", () => {
  it("is an overflow over Messages, with the window the provider tells", async () => {
    const server = await start("anthropic-messages", { contextWindow: 8050, countMaxTokens: true });
    const call = callOf("anthropic-messages", [{ role: "user", content: "x".repeat(4000) }]);
    const result = await completeModel({ call, endpoint: endpointOf(server) });
    expect(result).toMatchObject({ ok: false, error: { kind: "overflow", windowTokens: 8050 } });
  });
});
