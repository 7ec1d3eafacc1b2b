// Engines whose faults show in sessions where something rare happens.
import type { AgentMessage } from "../../contract/message.ts";
import type { SessionRef } from "../../contract/session.ts";
import { messageId } from "../../transcript/message-id.ts";
import { stored } from "../full-engine.ts";
import { type BrokenEngines, fullWith, lie, memoryWith, reassemble } from "./break.ts";

const EAGER = { info: { id: "full", name: "Full engine", ownsCompaction: true } };
const NOTHING = { changed: false, bytesFreed: 0, rewrittenEntries: 0 };

export const BROKEN_SESSIONS: BrokenEngines = {
  "sessions/quiet": fullWith((engine, store) => ({
    commitTurn(params) {
      const outcome = engine.commitTurn(params);
      const { messages } = stored(store, params);
      for (const [name, message] of messages)
        if (message.role === "toolResult")
          messages.set(name, { ...message, content: message.content.slice(0, 1) });
      return outcome;
    },
  })),
  "sessions/crashes": fullWith((engine, _store, restarts) => ({
    commitTurn: (params) => (restarts > 0 ? { status: "committed" } : engine.commitTurn(params)),
  })),
  "sessions/branches": fullWith((engine, store) => ({
    assemble(params) {
      const all = [...stored(store, params).messages.values()];
      const isGrown = all.length > params.messages.length && params.messages.length > 0;
      return engine.assemble({ ...params, messages: isGrown ? all : params.messages });
    },
  })),
  "sessions/missed-turns": fullWith((engine) => ({
    ...EAGER,
    bootstrap: () => ({ bootstrapped: false }),
    afterTurn(params) {
      const newest = params.messages.findLastIndex(({ role }) => role === "user");
      const prePromptMessageCount = Math.max(newest, params.prePromptMessageCount);
      return engine.afterTurn({ ...params, prePromptMessageCount });
    },
  })),
  "sessions/heartbeats": fullWith((engine) => {
    let isQuiet = false;
    return {
      bootstrap: () => ({ bootstrapped: false }),
      commitTurn(params) {
        isQuiet ||= params.isHeartbeat === true;
        return engine.commitTurn({ ...params, messages: isQuiet ? [] : params.messages });
      },
    };
  }),
  "sessions/budgets": fullWith((engine) =>
    reassemble(({ messages, promptAuthority }) => ({
      messages: promptAuthority === "assembled" ? messages : messages.slice(1),
    }))(engine),
  ),
  "sessions/compactions": fullWith((engine) => {
    const compacted = new Set<string>();
    return {
      async compact(params) {
        const outcome = await engine.compact(params);
        if (outcome.compacted) compacted.add(params.sessionId);
        return outcome;
      },
      async assemble(params) {
        const result = await engine.assemble(params);
        const isCut = compacted.has(params.sessionId) && result.messages.length > 3;
        return { ...result, messages: isCut ? result.messages.slice(0, -1) : result.messages };
      },
    };
  }),
  "sessions/everything": fullWith((engine) => ({
    maintain(params) {
      if (params.runtimeContext?.allowDeferredCompactionExecution) throw new Error("not now");
      return engine.maintain(params);
    },
  })),
  "sessions/other-sessions": fullWith((engine) => ({
    commitTurn: ({ sessionKey, ...params }) =>
      engine.commitTurn({ ...params, sessionId: sessionKey ?? params.sessionId }),
    assemble: ({ sessionKey, ...params }) =>
      engine.assemble({ ...params, sessionId: sessionKey ?? params.sessionId }),
  })),
  "sessions/without-files": fullWith(() => ({
    maintain: (params) => (lie<string>(params.sessionFile).endsWith(".jsonl") ? NOTHING : NOTHING),
  })),
  "sessions/without-ids": fullWith((_engine, store) => ({
    commitTurn(params) {
      const { messages } = stored(store, params);
      const before = messages.size;
      for (const message of params.messages)
        messages.set(message.__openclaw?.id ?? message.role, structuredClone(message));
      return { status: messages.size > before ? "committed" : "duplicate" };
    },
  })),
  "sessions/growing": fullWith(
    reassemble(() => ({ contextProjection: { mode: "thread_bootstrap", epoch: "the only one" } })),
  ),
  "sessions/files": fullWith((engine, store) => ({
    async bootstrap(params) {
      const outcome = await engine.bootstrap(params);
      return { ...outcome, importedMessages: stored(store, params).messages.size };
    },
  })),
  "sessions/without-times": fullWith((engine) => ({
    ...EAGER,
    bootstrap: () => ({ bootstrapped: false }),
    afterTurn: (params) =>
      engine.afterTurn({
        ...params,
        messages: params.messages.map((message) =>
          message.timestamp === undefined ? { ...message, idempotencyKey: message.role } : message,
        ),
      }),
  })),
  "sessions/without-folder": (engine, _store, _restarts, withoutFolder) => {
    if (withoutFolder) throw new Error("it needs a folder");
    return engine;
  },
  "sessions/at-once": fullWith((engine) => {
    let current: SessionRef | undefined;
    return {
      async assemble({ messages, ...params }) {
        current = params;
        await new Promise((resolve) => setTimeout(resolve, 0));
        return engine.assemble({ ...params, ...current, messages });
      },
    };
  }),
  "sessions/compacted-branches": fullWith((engine, store) => ({
    async assemble(params) {
      const result = await engine.assemble(params);
      const { summary } = stored(store, params);
      const isShown = result.messages.some(({ role }) => role === "compactionSummary");
      if (summary === undefined || isShown) return result;
      return { ...result, messages: [{ role: "compactionSummary", summary }, ...result.messages] };
    },
  })),
  "sessions/late-histories": fullWith((engine, store) => ({
    assemble(params) {
      const known = [...stored(store, params).messages.values()];
      const first = params.messages[0]?.__openclaw?.id;
      const at = first === undefined ? 0 : known.findIndex((one) => messageId(one) === first);
      const earlier = known.slice(0, Math.max(0, at));
      return engine.assemble({ ...params, messages: [...earlier, ...params.messages] });
    },
  })),
  "sessions/rewritten": fullWith((engine) => {
    const seen = new Map<string, AgentMessage>();
    const asSeen = (sessionId: string, message: AgentMessage) => {
      const id = messageId(message) && `${sessionId} ${messageId(message)}`;
      if (id === undefined) return message;
      if (!seen.has(id)) seen.set(id, structuredClone(message));
      return seen.get(id)!;
    };
    return {
      assemble(params) {
        const messages = params.messages.map((message) => asSeen(params.sessionId, message));
        return engine.assemble({ ...params, messages });
      },
    };
  }),
  "sessions/odd-clocks": fullWith((_engine, store, restarts) => {
    for (const session of restarts > 0 ? store.sessions.values() : [])
      session.messages = new Map(
        [...session.messages].sort(([, a], [, b]) => (a.timestamp ?? 0) - (b.timestamp ?? 0)),
      );
    return {};
  }),
  "sessions/long": fullWith((engine, store) => ({
    bootstrap: () => ({ bootstrapped: false }),
    commitTurn(params) {
      const outcome = engine.commitTurn(params);
      const { messages } = stored(store, params);
      for (const name of messages.keys()) if (messages.size > 100) messages.delete(name);
      return outcome;
    },
  })),
  "sessions/after-compaction": memoryWith(
    reassemble(({ messages }) => ({
      messages: messages.filter(
        ({ role }, at) => at > messages.length - 40 || role !== "compactionSummary",
      ),
    })),
  ),
  "sessions/kills": fullWith((_engine, store, restarts) => {
    for (const { messages } of restarts > 0 ? store.sessions.values() : [])
      messages.delete([...messages.keys()].at(-1)!);
    return {};
  }),
  "sessions/eager-hosts": fullWith(() => ({
    afterTurn() {},
    bootstrap: () => ({ bootstrapped: false }),
  })),
};

/** Leaves a rejected promise behind each time it is told of a turn. */
export const BROKEN_PROCESS: BrokenEngines = {
  "process/strays": fullWith((engine) => ({
    afterTurn(params) {
      void Promise.reject(new Error("the index is away"));
      return engine.afterTurn(params);
    },
  })),
};
