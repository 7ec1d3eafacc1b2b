// One engine per conformance case that breaks just that rule.
import type { ContextEngine } from "../contract/engine.ts";
import type { AssembleResult } from "../contract/lifecycle.ts";
import type { AgentMessage } from "../contract/message.ts";
import type { SessionRef } from "../contract/session.ts";
import { runtimeCompactionSlot } from "../delegate.ts";
import { estimateMessages } from "../tokens/message.ts";
import { textOf } from "../transcript/text.ts";
import { atomicGroups } from "../transcript/tool-pairs.ts";
import { type EngineStore, nameOf, record, stored } from "./full-engine.ts";
import { createMemoryEngine } from "./memory-engine.ts";

type Full = Required<ContextEngine>;
/** `restarts`: how often the engine was made over this storage before. */
type Break = (full: Full, store: EngineStore, restarts: number) => ContextEngine;

/** The memory engine with one method replaced. */
const memory = (change: (memory: ContextEngine) => Partial<ContextEngine>): Break => {
  return () => {
    const engine = createMemoryEngine();
    return { ...engine, ...change(engine) };
  };
};
const full = (
  change: (full: Full, store: EngineStore, restarts: number) => Partial<ContextEngine>,
): Break => {
  return (engine, store, restarts) => ({ ...engine, ...change(engine, store, restarts) });
};
/** An assemble whose result is changed afterwards. */
const reassemble =
  (change: (result: AssembleResult) => Partial<AssembleResult>) =>
  (engine: ContextEngine): Partial<ContextEngine> => ({
    async assemble(params) {
      const result = await engine.assemble(params);
      return { ...result, ...change(result) };
    },
  });
const lie = <T>(value: unknown) => value as T;
const tick = () => Promise.resolve();
/** The newest messages that fit, cut anywhere. */
const newest = (messages: readonly AgentMessage[], tokenBudget: number) => {
  let start = messages.length;
  while (start > 0 && estimateMessages(messages.slice(start - 1)).high <= tokenBudget) start--;
  return messages.slice(start);
};
/** Stores copies under new names, as an engine without stable ids does. */
const storeAgain = (store: EngineStore, ref: SessionRef, messages: readonly AgentMessage[]) => {
  const session = stored(store, ref);
  for (const message of messages)
    session.messages.set(
      `${nameOf(message)} copy ${session.messages.size}`,
      structuredClone(message),
    );
};

/** By the id of the case that must catch it. */
export const BROKEN_ENGINES: Readonly<Record<string, Break>> = {
  "contract/info": memory(() => ({ info: { id: "memory", name: " " } })),
  "contract/methods": memory(() => ({ maintain: lie("yes") })),
  "contract/durable-declaration": full(() => ({ commitTurn: lie(undefined) })),
  "contract/ingest-result": memory(() => ({ ingest: () => lie({}) })),
  "contract/ingest-batch-result": full(() => ({ ingestBatch: () => ({ ingestedCount: -1 }) })),
  "contract/bootstrap-result": full((engine) => ({
    async bootstrap(params) {
      await engine.bootstrap(params);
      return lie(undefined);
    },
  })),
  "contract/maintain-result": full(() => ({ maintain: () => lie({}) })),
  "contract/assemble-result": memory(reassemble(() => ({ promptAuthority: lie("mine") }))),
  "contract/compact-result": memory((engine) => ({
    async compact(params) {
      return { ...(await engine.compact(params)), ok: false };
    },
  })),

  "host/minimal-params": memory((engine) => ({
    assemble: (params) =>
      engine.assemble({
        ...params,
        messages: params.messages.slice(0, lie<string>(params.sessionKey).length * 1000),
      }),
  })),
  "host/without-files": full((engine) => ({
    bootstrap: (params) =>
      lie<string>(params.sessionFile).endsWith(".jsonl")
        ? engine.bootstrap(params)
        : { bootstrapped: false },
  })),
  "host/extra-params": memory((engine) => ({
    assemble(params) {
      const known = [
        "sessionId",
        "sessionKey",
        "messages",
        "tokenBudget",
        "availableTools",
        "prompt",
        "runtimeContext",
        "sessionFile",
      ];
      const unknown = Object.keys(params).find((key) => !known.includes(key));
      if (unknown !== undefined) throw new Error(`unknown parameter ${unknown}`);
      return engine.assemble(params);
    },
  })),
  "host/info-read-often": () => {
    let reads = 0;
    return {
      ...createMemoryEngine(),
      get info() {
        return { id: `memory-${reads++}`, name: "Memory engine" };
      },
    };
  },

  "ingest/every-role": memory((engine) => ({
    ingest(params) {
      if (params.message.role === "bashExecution") throw new Error("what is a bashExecution");
      return engine.ingest(params);
    },
  })),
  "ingest/equal-texts": memory((engine) => {
    const texts = new Set<string>();
    return {
      ingest(params) {
        const text = `${params.sessionId} ${params.message.role} ${textOf(params.message)}`;
        if (texts.has(text)) return { ingested: false };
        texts.add(text);
        return engine.ingest(params);
      },
    };
  }),

  "idempotence/ingest-twice": memory((engine) => ({
    async ingest(params) {
      await engine.ingest(params);
      return { ingested: true };
    },
  })),
  "idempotence/ingest-at-once": memory((engine) => {
    const known = new Set<string>();
    return {
      async ingest(params) {
        const event = `${params.sessionId} ${nameOf(params.message)}`;
        const isNew = !known.has(event);
        await tick();
        known.add(event);
        await engine.ingest(params);
        return { ingested: isNew };
      },
    };
  }),
  "idempotence/ingest-batch-twice": full((engine) => ({
    async ingestBatch(params) {
      await engine.ingestBatch(params);
      return { ingestedCount: params.messages.length };
    },
  })),
  "idempotence/turn-twice": full((engine, store) => {
    const told = new Set<string>();
    return {
      async afterTurn(params) {
        const fresh = params.messages.slice(params.prePromptMessageCount);
        const turn = fresh.map(nameOf).join();
        if (told.has(turn)) storeAgain(store, params, fresh);
        told.add(turn);
        await engine.afterTurn(params);
      },
    };
  }),
  "idempotence/bootstrap-twice": full((engine, store) => {
    let runs = 0;
    return {
      async bootstrap(params) {
        if (runs++ > 0) storeAgain(store, params, [...stored(store, params).messages.values()]);
        return engine.bootstrap(params);
      },
    };
  }),

  "after-turn/only-new-messages": full((engine, store) => {
    const starts = new Set<string>();
    return {
      async afterTurn(params) {
        const start = `${params.sessionId} ${params.prePromptMessageCount}`;
        const isThird = starts.size === 2 && !starts.has(start);
        starts.add(start);
        if (isThird)
          storeAgain(store, params, params.messages.slice(0, params.prePromptMessageCount));
        await engine.afterTurn(params);
      },
    };
  }),

  "assemble/empty-session": memory(
    reassemble(({ messages }) => ({
      messages: messages.length > 0 ? messages : [{ role: "user", content: "Welcome!" }],
    })),
  ),
  "assemble/newest-kept": memory(
    reassemble(({ messages }) => ({
      messages: messages.slice(0, atomicGroups(messages).at(-1)?.start ?? 0),
    })),
  ),
  "order/oldest-first": memory(
    reassemble(({ messages }) => {
      const [first, second] = atomicGroups(messages);
      if (first === undefined || second === undefined || messages.length < 8) return {};
      const groups = [second, first].flatMap(({ start, end }) => messages.slice(start, end));
      return { messages: [...groups, ...messages.slice(groups.length)] };
    }),
  ),
  "pairing/every-budget": memory(() => ({
    assemble: ({ messages, tokenBudget = Infinity }) => ({
      messages: newest(messages, tokenBudget),
      estimatedTokens: 0,
    }),
  })),
  "determinism/same-input": memory((engine) => {
    let calls = 0;
    return reassemble(() => ({ systemPromptAddition: `Assembly number ${calls++}.` }))(engine);
  }),

  "budget/never-throws": memory((engine) => ({
    async assemble(params) {
      const result = await engine.assemble(params);
      if (result.messages.length === 0 && params.messages.length > 0)
        throw new Error("nothing fits");
      return result;
    },
  })),
  "budget/never-above": full((engine) => ({
    assemble: ({ tokenBudget: _budget, ...params }) => engine.assemble(params),
  })),
  "budget/honest-estimate": memory(
    reassemble(({ messages }) => ({ estimatedTokens: messages.length })),
  ),

  "input/assemble": memory((engine) => ({
    async assemble(params) {
      const result = await engine.assemble(params);
      for (const message of params.messages) message.timestamp = 0;
      return result;
    },
  })),
  "input/ingest": memory((engine) => ({
    async ingest(params) {
      const result = await engine.ingest(params);
      params.message.idempotencyKey = "mine";
      return result;
    },
  })),
  "input/turn": full((engine) => ({
    async afterTurn(params) {
      await engine.afterTurn(params);
      params.messages.pop();
    },
  })),

  "compact/delegates": memory(() => ({
    compact: () => ({ ok: true, compacted: false, reason: "nothing to compact" }),
  })),
  "compact/no-built-in": memory(() => ({
    compact(params) {
      const builtIn = runtimeCompactionSlot()?.getStore();
      if (builtIn === undefined) throw new Error("no built-in compaction");
      return builtIn(params);
    },
  })),
  "compact/smaller": full(() => ({
    compact: ({ currentTokenCount = 0, abortSignal }) => {
      abortSignal?.throwIfAborted();
      return {
        ok: true,
        compacted: true,
        result: { tokensBefore: currentTokenCount, tokensAfter: 0 },
      };
    },
  })),
  "compact/reported-numbers": full((engine) => ({
    async compact(params) {
      const outcome = await engine.compact(params);
      return outcome.result
        ? { ...outcome, result: { ...outcome.result, tokensAfter: outcome.result.tokensBefore } }
        : outcome;
    },
  })),
  "compact/keeps-request": full((engine, store) => ({
    async compact(params) {
      const outcome = await engine.compact(params);
      const session = stored(store, params);
      if (outcome.compacted)
        for (const event of session.messages.keys()) session.covered.add(event);
      return outcome;
    },
  })),
  "compact/again": full((engine, store) => {
    const compacted = new Set<string>();
    return {
      async compact(params) {
        const session = stored(store, params);
        if (compacted.has(params.sessionId))
          session.summary = `${session.summary}\n${session.summary}`;
        compacted.add(params.sessionId);
        return engine.compact(params);
      },
    };
  }),

  "abort/before-compact": full((engine) => ({
    compact: ({ abortSignal: _signal, ...params }) => engine.compact(params),
  })),
  "abort/during-compact": full((engine) => ({
    compact({ abortSignal, ...params }) {
      abortSignal?.throwIfAborted();
      return engine.compact(params);
    },
  })),

  "commit/once": full((engine) => ({
    async commitTurn(params) {
      await engine.commitTurn(params);
      return { status: "committed" };
    },
  })),
  "commit/at-once": full((engine, store) => ({
    async commitTurn(params) {
      const before = store.committed.size;
      await tick();
      const { status } = await engine.commitTurn(params);
      return { status: before === 0 ? "committed" : status };
    },
  })),
  "commit/each-key": full((engine) => {
    let committed = 0;
    return {
      async commitTurn(params) {
        const { status } = await engine.commitTurn(params);
        return { status: status === "committed" && committed++ > 1 ? "duplicate" : status };
      },
    };
  }),
  "commit/after-restart": full((engine, store, restarts) => ({
    commitTurn(params) {
      if (restarts > 0) store.committed.clear();
      return engine.commitTurn(params);
    },
  })),

  "crash/same-assembly": full((engine, _store, restarts) =>
    restarts === 0
      ? {}
      : reassemble(({ messages }) => ({
          messages: messages.slice(atomicGroups(messages)[0]?.end),
        }))(engine),
  ),
  "crash/redelivery": full((engine, store, restarts) => ({
    async afterTurn(params) {
      if (restarts > 0)
        storeAgain(store, params, params.messages.slice(params.prePromptMessageCount));
      await engine.afterTurn(params);
    },
  })),
  "crash/compaction-survives": full((_engine, store, restarts) => {
    if (restarts > 0) for (const session of store.sessions.values()) session.covered.clear();
    return {};
  }),

  "subagents/preparation": full(() => ({ prepareSubagentSpawn: () => lie({ rollback: "later" }) })),
  "subagents/rollback": full((_engine, store) => ({
    prepareSubagentSpawn({ parentSessionId = "", childSessionKey }) {
      record(stored(store, { sessionId: parentSessionId }), [
        { role: "custom", customType: "note", content: `Waiting for ${childSessionKey}.` },
      ]);
      return { rollback: () => {} };
    },
  })),
  "subagents/again": full((_engine, store) => ({
    prepareSubagentSpawn({ childSessionKey }) {
      if (store.prepared.has(childSessionKey)) throw new Error("this child exists");
      store.prepared.add(childSessionKey);
      return { rollback: () => {} };
    },
  })),
  "subagents/unknown-child": full((_engine, store) => ({
    onSubagentEnded({ childSessionKey }) {
      if (!store.prepared.has(childSessionKey)) throw new Error("unknown child");
    },
  })),

  "dispose/use-again": full((engine) => {
    let isClosed = false;
    return {
      assemble(params) {
        if (isClosed) throw new Error("database is closed");
        return engine.assemble(params);
      },
      dispose() {
        isClosed = true;
      },
    };
  }),
  "dispose/twice": full(() => {
    let isClosed = false;
    return {
      dispose() {
        if (isClosed) throw new Error("already closed");
        isClosed = true;
      },
    };
  }),

  "isolation/interleaved": memory((engine) => {
    const one = { sessionId: "the-only-one", sessionKey: "the-only-one" };
    return {
      ingest: (params) => engine.ingest({ ...params, ...one }),
      assemble: (params) => engine.assemble({ ...params, ...one }),
    };
  }),
  "isolation/at-once": memory((engine) => {
    let current: SessionRef = { sessionId: "" };
    return {
      async ingest({ sessionId, sessionKey, ...params }) {
        current = { sessionId, ...(sessionKey !== undefined && { sessionKey }) };
        await tick();
        return engine.ingest({ ...params, ...current });
      },
    };
  }),
};
