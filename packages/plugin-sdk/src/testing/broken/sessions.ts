// Engines whose faults show in sessions where something rare happens.
import type { AgentMessage, ToolResultBlock } from "../../contract/message.ts";
import type { SessionRef } from "../../contract/session.ts";
import { messageId } from "../../transcript/message-id.ts";
import { nameOf, stored } from "../full-engine.ts";
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
    let wasQuiet = false;
    return {
      commitTurn(params) {
        const messages = wasQuiet && !params.isHeartbeat ? [] : params.messages;
        wasQuiet = params.isHeartbeat === true;
        return engine.commitTurn({ ...params, messages });
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
  "sessions/sizes": memoryWith(
    reassemble(({ messages }) => ({
      messages: messages.map((message) =>
        message.role === "toolResult" ? { ...message, content: message.content.map(cut) } : message,
      ),
    })),
  ),
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
  "sessions/children": fullWith((engine, store) => {
    const lent = new Map<string, string>();
    return {
      prepareSubagentSpawn(params) {
        lent.set(params.childSessionId ?? "", params.parentSessionId ?? "");
        return engine.prepareSubagentSpawn(params);
      },
      assemble({ messages, ...params }) {
        const sessionId = lent.get(params.sessionId);
        if (sessionId === undefined) return engine.assemble({ ...params, messages });
        const lentNow = [...stored(store, { sessionId }).messages.values()];
        return engine.assemble({ ...params, messages: [...lentNow, ...messages] });
      },
    };
  }),
  "sessions/clocks": fullWith((engine) => {
    let newest = 0;
    return {
      bootstrap: () => ({ bootstrapped: false }),
      commitTurn(params) {
        if (Date.now() < newest) return { status: "duplicate" };
        newest = Date.now();
        return engine.commitTurn(params);
      },
      afterTurn(params) {
        if (Date.now() < newest) return;
        newest = Date.now();
        return engine.afterTurn(params);
      },
    };
  }),
  "sessions/told-again": fullWith((engine, store) => ({
    commitTurn(params) {
      const outcome = engine.commitTurn(params);
      for (const key of [...store.committed].slice(0, -2)) store.committed.delete(key);
      return outcome;
    },
  })),
  "sessions/odd-models": fullWith((engine, store) => ({
    async compact(params) {
      try {
        return await engine.compact(params);
      } catch {
        const { messages, covered } = stored(store, params);
        for (const name of [...messages.keys()].slice(0, -2)) covered.add(name);
        return { ok: false, compacted: false, reason: "the model failed" };
      }
    },
  })),
  "sessions/host-compactions": memoryWith(
    reassemble(({ messages }) => ({
      messages: messages.filter(({ role }) => role !== "compactionSummary"),
      systemPromptAddition: "The person likes short answers.",
    })),
  ),
  "sessions/crowded-summaries": memoryWith((engine) => ({
    // The right words, in the wrong place.
    async assemble(params) {
      const { systemPromptAddition: said, ...result } = await engine.assemble(params);
      return said === undefined
        ? { ...result, systemPromptAddition: "The summary of what was said before is left out." }
        : result;
    },
  })),
  "sessions/past": fullWith((engine, store) => ({
    async bootstrap(params) {
      const { messages } = stored(store, params);
      if (messages.size > 0) return { bootstrapped: true, importedMessages: 0 };
      const outcome = await engine.bootstrap(params);
      for (const name of [...messages.keys()].slice(0, -50)) messages.delete(name);
      return outcome.bootstrapped ? { ...outcome, importedMessages: messages.size } : outcome;
    },
  })),
  "sessions/alike-names": fullWith((engine) => {
    const plain = <Params extends SessionRef>(params: Params): Params => ({
      ...params,
      sessionId: params.sessionId.replace(/\W/g, "_").toLowerCase(),
    });
    return {
      bootstrap: () => ({ bootstrapped: false }),
      commitTurn: (params) => engine.commitTurn(plain(params)),
      afterTurn: (params) => engine.afterTurn(plain(params)),
      assemble: (params) => engine.assemble(plain(params)),
    };
  }),
  "sessions/same-engine": fullWith((engine, store) => ({
    bootstrap: () => ({ bootstrapped: false }),
    dispose() {
      store.sessions.clear();
      return engine.dispose();
    },
  })),
  "sessions/compacted-sessions": fullWith((engine, store) => ({
    async compact(params) {
      const outcome = await engine.compact(params);
      if (outcome.compacted)
        for (const [sessionId, session] of store.sessions)
          if (sessionId !== params.sessionId) {
            session.covered.clear();
            delete session.summary;
          }
      return outcome;
    },
  })),
  "sessions/detours": fullWith((engine) => {
    const models = new Map<string, string>();
    return {
      async assemble(params) {
        const { sessionId, model = "" } = params;
        if (!models.has(sessionId) || model.startsWith("other/tiny")) models.set(sessionId, model);
        const result = await engine.assemble(params);
        const isSmall = models.get(sessionId)!.startsWith("other/tiny");
        return isSmall ? { ...result, systemPromptAddition: "Answer in few words." } : result;
      },
    };
  }),
  "sessions/many": fullWith((engine, store) => ({
    bootstrap: () => ({ bootstrapped: false }),
    commitTurn(params) {
      const outcome = engine.commitTurn(params);
      for (const name of store.sessions.keys())
        if (store.sessions.size > 20) store.sessions.delete(name);
      return outcome;
    },
  })),
  "sessions/aborts": fullWith((engine) => ({
    // The work that was begun goes on.
    compact: ({ abortSignal, ...params }) => {
      abortSignal?.throwIfAborted();
      return engine.compact(params);
    },
  })),
  "sessions/forks": fullWith((engine, store) => ({
    // A copy that shares what its original has covered.
    assemble(params) {
      const first = params.messages[0];
      if (first !== undefined && !store.sessions.has(params.sessionId))
        for (const { messages, covered, summary } of [...store.sessions.values()])
          if (messages.has(nameOf(first)) && summary !== undefined)
            Object.assign(stored(store, params), { covered, summary });
      return engine.assemble(params);
    },
    bootstrap: () => ({ bootstrapped: false }),
  })),
  "sessions/mixed": fullWith((_engine, store, restarts) => {
    for (const { messages } of restarts > 2 ? store.sessions.values() : [])
      messages.delete([...messages.keys()][0]!);
    return {};
  }),
  "sessions/eager-hosts": fullWith(() => ({
    afterTurn() {},
    bootstrap: () => ({ bootstrapped: false }),
  })),
};

/** Nothing says so. */
const cut = <Block extends ToolResultBlock>(block: Block): Block =>
  block.type === "text" ? { ...block, text: block.text.slice(0, 40_000) } : block;

/** Leaves a rejected promise behind each time it is told of a turn. */
export const BROKEN_PROCESS: BrokenEngines = {
  "process/strays": fullWith((engine) => ({
    afterTurn(params) {
      void Promise.reject(new Error("the index is away"));
      return engine.afterTurn(params);
    },
  })),
  "process/held": fullWith((engine) => ({
    afterTurn(params) {
      setInterval(() => {}, 60_000).unref();
      return engine.afterTurn(params);
    },
  })),
};
