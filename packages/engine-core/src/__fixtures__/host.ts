// A small real host for tests, with a transcript in memory and a scripted model.

import type {
  AgentMessage,
  AssistantMessage,
  ContextEngine,
  ContextEngineFactory,
} from "@clew/plugin-sdk/core";
import type {
  ModelCall,
  ModelError,
  ModelRef,
  PluginsConfig,
  StreamEvent,
} from "@clew/plugin-sdk/host";
import {
  activeBranch,
  type NewTranscriptEntry,
  originsOf,
  placeEntry,
  type TranscriptEntry,
  withOrigin,
} from "@clew/plugin-sdk/transcript";
import {
  createEngineRegistry,
  createSessionState,
  type EngineRegistry,
  type HostPorts,
  type LogPort,
  partOfBranch,
  type RegistryOptions,
  resolveContextEngine,
  runTurn,
  type SessionState,
  type ToolPort,
  type TranscriptPort,
  type TurnEvent,
  type TurnRequest,
  type TurnResult,
} from "../index.ts";

export const MODEL: ModelRef = {
  provider: "test",
  api: "scripted",
  id: "model",
  contextWindow: 100_000,
  maxOutputTokens: 4096,
};

/** The engine hosts fall back to in these tests: pass-through, like the built-in one. */
export function passThrough(overrides: Partial<ContextEngine> = {}): ContextEngine {
  return {
    info: { id: "legacy", name: "Pass-through" },
    ingest: () => ({ ingested: false }),
    assemble: ({ messages }) => ({ messages, estimatedTokens: 0 }),
    compact: () => ({ ok: false, compacted: false, reason: "nothing to compact" }),
    ...overrides,
  };
}

export function memoryTranscript(
  entries: TranscriptEntry[] = [],
  prefix = "entry-",
): TranscriptPort & { entries: TranscriptEntry[]; branch(): readonly TranscriptEntry[] } {
  let branch: readonly TranscriptEntry[] = activeBranch(entries);
  let next = 0;
  return {
    entries,
    session: {
      agentId: "main",
      sessionId: "session-1",
      sessionKey: "agent:main:main",
      sessionFile: "/nowhere/session-1.jsonl",
    },
    exists: () => entries.length > 0,
    branch: () => branch,
    read: async (part) => partOfBranch(branch, part),
    async append(fresh: readonly NewTranscriptEntry[]) {
      const made = fresh.map((entry) => {
        const placed = placeEntry(entry, {
          id: `${prefix}${next++}`,
          parentId: branch.at(-1)?.id ?? null,
          timestamp: new Date(0).toISOString(),
        });
        entries.push(placed);
        branch = [...branch, placed];
        return placed;
      });
      return made;
    },
    async rewrite({ replacements }) {
      const byId = new Map(replacements.map(({ entryId, message }) => [entryId, message]));
      const first = branch.findIndex((entry) => byId.has(entry.id));
      if (first < 0)
        return {
          changed: false,
          bytesFreed: 0,
          rewrittenEntries: 0,
          reason: "no changed matching message entries",
        };
      const suffix = branch.slice(first);
      const origins = originsOf(branch);
      const remapped = new Map<string, string>();
      branch = branch.slice(0, first);
      for (const { id, ...entry } of suffix) {
        const message = byId.get(id);
        const placed = {
          ...entry,
          ...(message && { message }),
          id: `${prefix}${next++}`,
          parentId: branch.at(-1)?.id ?? null,
        } as TranscriptEntry;
        remapped.set(id, placed.id);
        const again = withOrigin(placed, origins.get(id)!);
        entries.push(again);
        branch = [...branch, again];
      }
      return { changed: true, bytesFreed: 1, rewrittenEntries: byId.size, remapped };
    },
  };
}

export type Reply =
  | string
  | AssistantMessage
  | { message: AssistantMessage; leftOut: readonly string[] }
  | { error: ModelError; arrived?: AssistantMessage }
  | ((call: ModelCall) => Reply | Promise<Reply>);

/** Answers call after call from the script; keeps every call it got. The last reply repeats. */
export function scriptedModel(replies: Reply[]) {
  const calls: ModelCall[] = [];
  async function* stream(call: ModelCall): AsyncIterable<StreamEvent> {
    let reply: Reply = replies[Math.min(calls.length, replies.length - 1)] ?? "ok";
    calls.push(call);
    while (typeof reply === "function") reply = await reply(call);
    if (typeof reply === "object" && "error" in reply) {
      for (const block of reply.arrived?.content ?? [])
        if (block.type === "text") yield { type: "text", delta: block.text };
      yield {
        type: "error",
        error: reply.error,
        partial: { role: "assistant", content: [], ...reply.arrived, stopReason: "error" },
      };
      return;
    }
    const done = typeof reply === "object" && "message" in reply ? reply : undefined;
    const message: AssistantMessage =
      typeof reply === "string"
        ? { role: "assistant", content: [{ type: "text", text: reply }], stopReason: "stop" }
        : "message" in reply
          ? reply.message
          : reply;
    for (const block of message.content)
      if (block.type === "text") yield { type: "text", delta: block.text };
    yield { type: "done", message, ...(done && { leftOut: done.leftOut }) };
  }
  return {
    calls,
    stream,
    async complete(call: ModelCall) {
      for await (const event of stream(call)) {
        if (event.type === "done") return { ok: true as const, message: event.message };
        if (event.type === "error")
          return { ok: false as const, error: event.error, partial: event.partial };
      }
      throw new Error("the script ended without a reply");
    },
  };
}

export const callTool = (
  name: string,
  args: Record<string, unknown> = {},
  id = `call_${name}`,
): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "toolCall", id, name, arguments: args }],
  stopReason: "toolUse",
});

export function tools(
  functions: Record<
    string,
    (args: Record<string, unknown>, signal: AbortSignal) => string | Promise<string>
  >,
): ToolPort {
  return {
    list: () =>
      Object.keys(functions).map((name) => ({
        name,
        description: name,
        parameters: { type: "object" },
      })),
    async run({ call, signal }) {
      const text = await functions[call.name]!(call.arguments, signal);
      return { content: [{ type: "text", text }], isError: false };
    },
  };
}

export function memoryLog(): LogPort & { lines: string[] } {
  const lines: string[] = [];
  const write = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  return { lines, info: write("info"), warn: write("warn"), error: write("error") };
}

/** Hosts bring a real hash; a short one keeps test output readable. */
function hash(text: string): string {
  let value = 0;
  for (let index = 0; index < text.length; index++)
    value = (Math.imul(value, 31) + text.charCodeAt(index)) | 0;
  return (value >>> 0).toString(16);
}

export interface TestHost {
  registry: EngineRegistry;
  ports: HostPorts & {
    transcript: ReturnType<typeof memoryTranscript>;
    model: ReturnType<typeof scriptedModel>;
  };
  state: SessionState;
  log: ReturnType<typeof memoryLog>;
  events: TurnEvent[];
  say(text: string, options?: Partial<TurnRequest>): Promise<TurnResult>;
  /** Roles and texts of the last model call. */
  lastSeen(): string[];
}

export function testHost(
  options: {
    engine?: ContextEngine | ContextEngineFactory;
    fallback?: ContextEngineFactory;
    replies?: Reply[];
    tools?: ToolPort;
    ports?: Partial<HostPorts>;
    registry?: Partial<RegistryOptions>;
    plugins?: PluginsConfig;
    transcript?: ReturnType<typeof memoryTranscript>;
    state?: SessionState;
  } = {},
): TestHost {
  const log = memoryLog();
  let ids = 0;
  let now = 1_000;
  const clock = { now: () => now++, monotonic: () => performance.now() };
  const registry = createEngineRegistry({
    fallback: options.fallback ?? (() => passThrough()),
    log,
    clock,
    ...options.registry,
  });
  const { engine } = options;
  if (engine !== undefined)
    registry.register({
      engineId: "test",
      owner: "plugin:test",
      factory: typeof engine === "function" ? engine : () => engine,
    });
  const ports = {
    transcript: options.transcript ?? memoryTranscript(),
    model: scriptedModel(options.replies ?? ["ok"]),
    ...(options.tools !== undefined && { tools: options.tools }),
    log,
    clock,
    ids: { next: () => `id-${ids++}`, hash },
    ...options.ports,
  } as TestHost["ports"];
  const state = options.state ?? createSessionState();
  const events: TurnEvent[] = [];
  const plugins =
    options.plugins ?? (engine === undefined ? {} : { slots: { contextEngine: "test" } });
  return {
    registry,
    ports,
    state,
    log,
    events,
    async say(text, request = {}) {
      const { sessionKey } = ports.transcript.session;
      const resolved = await resolveContextEngine({ registry, config: { plugins }, sessionKey });
      return runTurn({
        engine: resolved,
        ports,
        state,
        model: MODEL,
        systemPrompt: [{ id: "base", text: "You are a test." }],
        prompt: { content: text },
        onEvent: (event) => events.push(event),
        ...request,
      });
    },
    lastSeen: () => (ports.model.calls.at(-1)?.messages ?? []).map(describe),
  };
}

export function describe(message: AgentMessage): string {
  if (message.role === "toolResult")
    return `toolResult: ${message.content.map((block) => (block.type === "text" ? block.text : "image")).join("")}`;
  if (!("content" in message)) return message.role;
  const content =
    typeof message.content === "string"
      ? message.content
      : message.content.map((block) => ("text" in block ? block.text : `[${block.type}]`)).join("");
  return `${message.role}: ${content}`;
}
