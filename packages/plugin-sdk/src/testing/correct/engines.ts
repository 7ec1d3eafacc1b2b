// Engines that are unusual and right, none of which may fail a case.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ContextEngine } from "../../contract/engine.ts";
import type { AgentMessage } from "../../contract/message.ts";
import { delegateCompactionToRuntime } from "../../delegate.ts";
import { blocksOf } from "../../messages/blocks.ts";
import { estimateText } from "../../tokens/estimate.ts";
import { estimateMessage, estimateMessages } from "../../tokens/message.ts";
import { activeBranch } from "../../transcript/branch.ts";
import { buildContext } from "../../transcript/context.ts";
import { freshTail } from "../../transcript/fresh-tail.ts";
import { parseTranscript } from "../../transcript/parse.ts";
import { textOf } from "../../transcript/text.ts";
import { splitTurns } from "../../transcript/turns.ts";
import type { EngineMaker } from "../case-context.ts";
import { createFullEngine, type EngineStore, emptyStore, stored } from "../full-engine.ts";
import { createMemoryEngine } from "../memory-engine.ts";
import { assistant, toolCall, toolResult } from "../messages.ts";
import { inHeartbeat } from "../sessions/judge-view.ts";

type Full = Required<ContextEngine>;

/** The engine with every method over a store that outlives a crash, with some members replaced. */
function full(
  change: (full: Full, store: EngineStore) => Partial<ContextEngine> = () => ({}),
): EngineMaker {
  const disks = new Map<string, EngineStore>();
  return ({ agentDir }) => {
    const store = disks.get(agentDir) ?? emptyStore();
    disks.set(agentDir, store);
    const engine = createFullEngine(store, (file) => messagesIn(file));
    const changes = Object.getOwnPropertyDescriptors(change({ ...engine }, store));
    return Object.defineProperties(engine, changes) as Full;
  };
}

const entriesIn = (file: string) => parseTranscript(readFileSync(file, "utf8")).entries;
const messagesIn = (file: string): AgentMessage[] =>
  buildContext(activeBranch(entriesIn(file))).items.map(({ message }) => message);

const highOf = (message: AgentMessage) => estimateMessage(message).high;
const viewOf = (messages: AgentMessage[], tokenBudget: number) => ({
  messages,
  estimatedTokens: estimateMessages(messages).estimate,
  promptAuthority:
    estimateMessages(messages).high <= tokenBudget
      ? ("assembled" as const)
      : ("preassembly_may_overflow" as const),
});

/** The newest turns that fit. */
function newest(messages: readonly AgentMessage[], tokenBudget = Infinity): AgentMessage[] {
  const room = { tokens: Infinity, maxTokens: tokenBudget, count: highOf };
  return messages.slice(freshTail(messages, room).start);
}

const EAGER_OWNER = { id: "unusual", name: "Unusual engine", ownsCompaction: true };
const NOTHING_REWRITTEN = { changed: false, bytesFreed: 0, rewrittenEntries: 0 };

/** Compacts by moving the session to a transcript with a summary and the newest turn. */
const successor: EngineMaker = ({ agentDir }) => ({
  info: EAGER_OWNER,
  ingest: () => ({ ingested: false }),
  assemble: ({ messages, tokenBudget = Infinity }) =>
    viewOf(newest(messages, tokenBudget), tokenBudget),
  compact({ sessionFile, sessionId, abortSignal }) {
    abortSignal?.throwIfAborted();
    if (sessionFile === undefined)
      return { ok: false, compacted: false, reason: "it needs a session file" };
    const messages = messagesIn(sessionFile);
    const tail = messages.slice(freshTail(messages, { turns: 1 }).start);
    const head = { role: "branchSummary" as const, summary: "There was more before." };
    const tokensBefore = estimateMessages(messages).estimate;
    const tokensAfter = estimateMessages([head, ...tail]).estimate;
    if (tokensAfter >= tokensBefore)
      return { ok: true, compacted: false, code: "no-gain", reason: "nothing to leave behind" };
    const next = `${sessionId}-s`;
    const file = join(agentDir, "successors", `${next}.jsonl`);
    mkdirSync(dirname(file), { recursive: true });
    const timestamp = "2026-01-01T00:00:00.000Z";
    const lines: object[] = [{ type: "session", version: 3, id: next, timestamp, cwd: "" }];
    const entries = [
      { type: "branch_summary", fromId: "root", summary: head.summary },
      ...tail.map((message) => ({ type: "message", message })),
    ];
    for (const [at, entry] of entries.entries())
      lines.push({ ...entry, id: `n${at}`, parentId: at === 0 ? null : `n${at - 1}`, timestamp });
    writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
    return {
      ok: true,
      compacted: true,
      result: { tokensBefore, tokensAfter, sessionId: next, sessionFile: file },
    };
  },
});

/** Puts every compaction off to the maintenance behind the reply. */
const deferred = full((engine) => {
  const asked = new Map<string, Parameters<ContextEngine["compact"]>[0]>();
  return {
    info: { ...engine.info, turnMaintenanceMode: "background" },
    compact(params) {
      params.abortSignal?.throwIfAborted();
      asked.set(params.sessionId, params);
      return { ok: true, compacted: false, reason: "vertagt" };
    },
    async maintain({ runtimeContext, sessionId }) {
      const params = asked.get(sessionId);
      if (params === undefined || runtimeContext?.allowDeferredCompactionExecution !== true)
        return NOTHING_REWRITTEN;
      asked.delete(sessionId);
      const { abortSignal: _signal, ...rest } = params;
      await engine.compact({ ...rest, runtimeContext: {} });
      return NOTHING_REWRITTEN;
    },
  };
});

/** Owns compaction only once its store was migrated, with the first call for any session. */
const lateOwner = full((engine) => {
  let isMigrated = false;
  const migrating =
    <Params, Result>(method: (params: Params) => Result) =>
    (params: Params): Result => {
      isMigrated = true;
      return method(params);
    };
  return {
    get info() {
      return { ...engine.info, ownsCompaction: isMigrated };
    },
    bootstrap: migrating(engine.bootstrap),
    assemble: migrating(engine.assemble),
    compact: (params) =>
      isMigrated ? engine.compact(params) : delegateCompactionToRuntime(params),
  };
});

/** Shows the newest turn and what fits the prompt of everything before; owns no compaction. */
const retrieval: EngineMaker = () => ({
  info: { id: "unusual", name: "Retrieval engine" },
  ingest: () => ({ ingested: false }),
  assemble({ messages, prompt = "", tokenBudget = Infinity }) {
    const turns = splitTurns(messages);
    const last = turns.at(-1);
    if (last === undefined) return { messages: [], estimatedTokens: 0 };
    const words = new Set(prompt.split(/\W+/));
    const score = (text: string) => text.split(/\W+/).filter((word) => words.has(word)).length;
    const best = turns
      .slice(0, -1)
      .map((turn) => messages.slice(turn.start, turn.end))
      .map((turn) => ({ turn, hits: score(turn.map(textOf).join(" ")) }))
      .sort((a, b) => b.hits - a.hits)[0];
    return viewOf([...(best?.turn ?? []), ...messages.slice(last.start)], tokenBudget);
  },
  compact: delegateCompactionToRuntime,
});

/** Shows two turns, whatever the room. */
const window: EngineMaker = () => ({
  ...createMemoryEngine(),
  ingest: () => ({ ingested: false }),
  assemble({ messages, tokenBudget = Infinity }) {
    return viewOf(messages.slice(splitTurns(messages).at(-2)?.start ?? 0), tokenBudget);
  },
});

/** Rebuilds messages from what a model needs, without ids, times or usage. */
const rebuilding = full((engine) => ({
  async assemble(params) {
    const result = await engine.assemble(params);
    return { ...result, messages: result.messages.map(rebuilt) };
  },
}));

function rebuilt(message: AgentMessage): AgentMessage {
  if (message.role === "toolResult") {
    const { role, toolCallId, toolName, content, isError } = message;
    return { role, toolCallId, toolName, content, isError };
  }
  if (message.role === "assistant") {
    const { role, content, stopReason } = message;
    return { role, content, stopReason };
  }
  const { timestamp: _time, __openclaw: _host, idempotencyKey: _key, ...rest } = message;
  return rest as AgentMessage;
}

/** Keeps nothing of heartbeats, and shows none. */
const quiet = full((engine, store) => ({
  info: EAGER_OWNER,
  bootstrap: () => ({ bootstrapped: false, reason: "it is told everything" }),
  ingest: (params) => (params.isHeartbeat ? { ingested: false } : engine.ingest(params)),
  ingestBatch: (params) => (params.isHeartbeat ? { ingestedCount: 0 } : engine.ingestBatch(params)),
  afterTurn: (params) => (params.isHeartbeat ? undefined : engine.afterTurn(params)),
  commitTurn(params) {
    return engine.commitTurn({ ...params, messages: params.isHeartbeat ? [] : params.messages });
  },
  assemble(params) {
    stored(store, params);
    const newestTurn = params.messages.findLastIndex(({ role }) => role === "user");
    const talk = params.messages.filter(
      (_, index) => index >= newestTurn || !inHeartbeat(params.messages, index),
    );
    const shown = talk.length > 0 ? talk : params.messages;
    return engine.assemble({ ...params, messages: shown });
  },
}));

/** Reads a transcript the first time it sees the session, and never again. */
const readsOnce = full((engine) => {
  const seen = new Set<string>();
  return {
    async bootstrap(params) {
      if (seen.has(params.sessionId)) return { bootstrapped: false, reason: "seen before" };
      const outcome = await engine.bootstrap(params);
      seen.add(params.sessionId);
      return outcome;
    },
  };
});

/** Takes the thinking out of what was answered before. */
const forgetful: EngineMaker = () => {
  const engine = createMemoryEngine();
  return {
    ...engine,
    async assemble(params) {
      const result = await engine.assemble(params);
      const messages = result.messages.map((message) =>
        message.role === "assistant"
          ? { ...message, content: message.content.filter(({ type }) => type !== "thinking") }
          : message,
      );
      return { ...result, messages };
    },
  };
};

/** Brings what it remembers as a call of its own with its result, in front of everything. */
const recalling: EngineMaker = () => {
  const engine = createMemoryEngine();
  const call = toolCall("recall", {}, "recall-1");
  const own = [assistant([call]), toolResult(call, "The person likes short answers.")];
  return {
    ...engine,
    async assemble(params) {
      const result = await engine.assemble(params);
      const isShown = result.messages.length > 0 && result.promptAuthority === "assembled";
      return { ...result, messages: [...(isShown ? own : []), ...result.messages] };
    },
  };
};

/** Clears old results of tools and says so, whatever the room. */
const clearing: EngineMaker = () => {
  const engine = createMemoryEngine();
  return {
    ...engine,
    async assemble(params) {
      const result = await engine.assemble(params);
      const { start } = freshTail(result.messages, { turns: 1 });
      const messages = result.messages.map((message, at) =>
        message.role === "toolResult" && at < start
          ? { ...message, content: [{ type: "text" as const, text: "[old result cleared]" }] }
          : message,
      );
      return { ...result, messages, estimatedTokens: estimateMessages(messages).estimate };
    },
  };
};

/** Says in front of a person's older words who they were. */
const naming: EngineMaker = () => {
  const engine = createMemoryEngine();
  return {
    ...engine,
    async assemble(params) {
      const result = await engine.assemble(params);
      const newestRequest = result.messages.findLastIndex(({ role }) => role === "user");
      const messages = result.messages.map((message, at): AgentMessage => {
        if (message.role !== "user" || at === newestRequest) return message;
        const who = { type: "text" as const, text: "[Anna]" };
        const content = blocksOf(message.content) as { type: "text"; text: string }[];
        return { ...message, content: [who, ...content] };
      });
      return { ...result, messages };
    },
  };
};

/** Says in the oldest request that it shows that there was more. */
const prefacing: EngineMaker = () => {
  const engine = createMemoryEngine();
  return {
    ...engine,
    async assemble(params) {
      const result = await engine.assemble(params);
      const { systemPromptAddition, ...view } = result;
      const first = view.messages.findIndex(({ role }) => role === "user");
      if (systemPromptAddition === undefined || first < 0) return result;
      const note = { type: "text" as const, text: "[earlier messages omitted]" };
      const messages = view.messages.map((message, at): AgentMessage => {
        if (at !== first || message.role !== "user") return message;
        const content = blocksOf(message.content) as { type: "text"; text: string }[];
        return { ...message, content: [note, ...content] };
      });
      return { ...view, messages };
    },
  };
};

/** Counts what it says of its own, and does not say it where the newest turn leaves no room. */
const strict: EngineMaker = () => {
  const engine = createMemoryEngine();
  return {
    ...engine,
    async assemble(params) {
      const result = await engine.assemble(params);
      const { systemPromptAddition, ...view } = result;
      if (systemPromptAddition === undefined) return result;
      const tokenBudget = params.tokenBudget! - estimateText(systemPromptAddition).high;
      const smaller = await engine.assemble({ ...params, tokenBudget });
      return smaller.promptAuthority === "assembled" ? smaller : view;
    },
  };
};

/** A class with private fields, whose info is a getter and whose methods take their time. */
class Slow implements ContextEngine {
  readonly #inner = createMemoryEngine();
  #calls = 0;
  get info() {
    return { id: "unusual", name: "Slow engine", version: `1.0.${this.#calls * 0}` };
  }
  async ingest(params: Parameters<ContextEngine["ingest"]>[0]) {
    this.#calls++;
    await new Promise((resolve) => setTimeout(resolve, 0));
    return this.#inner.ingest(params);
  }
  async assemble(params: Parameters<ContextEngine["assemble"]>[0]) {
    this.#calls++;
    await Promise.resolve();
    return structuredClone(await this.#inner.assemble(params));
  }
  compact = delegateCompactionToRuntime;
}

/** By what is unusual about them. */
export const CORRECT_ENGINES: Readonly<Record<string, EngineMaker>> = {
  "moves to a successor when it compacts": successor,
  "puts compaction off to maintenance": deferred,
  "owns compaction only after a migration": lateOwner,
  "shows the newest turn and what fits the prompt": retrieval,
  "shows two turns, whatever the room": window,
  "rebuilds messages without ids and times": rebuilding,
  "keeps and shows nothing of heartbeats": quiet,
  "reads a transcript once": readsOnce,
  "takes old thinking out": forgetful,
  "brings calls of its own": recalling,
  "clears old results of tools": clearing,
  "says who spoke": naming,
  "says in a message that there was more": prefacing,
  "counts its own words too": strict,
  "is a class that takes its time": () => new Slow(),
  "is frozen": () => Object.freeze(createMemoryEngine()),
  "is a proxy": () => new Proxy(createMemoryEngine(), {}),
};
