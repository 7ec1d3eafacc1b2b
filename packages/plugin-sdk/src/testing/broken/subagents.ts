// Engines that lose track of child sessions.
import { record, stored } from "../full-engine.ts";
import { type BrokenEngines, fullWith, lie } from "./break.ts";

export const BROKEN_SUBAGENTS: BrokenEngines = {
  "subagents/preparation": fullWith(() => ({
    prepareSubagentSpawn: () => lie({ rollback: "later" }),
  })),
  "subagents/rollback": fullWith((_engine, store) => ({
    prepareSubagentSpawn({ parentSessionId = "", childSessionKey }) {
      record(stored(store, { sessionId: parentSessionId }), [
        { role: "custom", customType: "note", content: `Waiting for ${childSessionKey}.` },
      ]);
      return { rollback: () => {} };
    },
  })),
  "subagents/again": fullWith((_engine, store) => ({
    prepareSubagentSpawn({ childSessionKey }) {
      if (store.prepared.has(childSessionKey)) throw new Error("this child exists");
      store.prepared.add(childSessionKey);
      return { rollback: () => {} };
    },
  })),
  "subagents/rollback-undoes": fullWith((_engine, store) => ({
    prepareSubagentSpawn({ parentSessionId, childSessionId = parentSessionId }) {
      return { rollback: () => void store.sessions.delete(childSessionId ?? "") };
    },
  })),
  "subagents/apart": fullWith((_engine, store) => ({
    prepareSubagentSpawn({ parentSessionId = "", childSessionId }) {
      if (childSessionId === undefined) return undefined;
      const { messages } = stored(store, { sessionId: parentSessionId });
      record(stored(store, { sessionId: childSessionId }), [...messages.values()]);
      return { rollback: () => void store.sessions.delete(childSessionId) };
    },
  })),
  "subagents/kept": fullWith((_engine, store) => ({
    onSubagentEnded({ childSessionKey, reason }) {
      if (reason === "completed") return;
      for (const id of store.sessions.keys())
        if (childSessionKey.endsWith(id)) store.sessions.delete(id);
    },
  })),
  "subagents/unknown-child": fullWith((_engine, store) => ({
    onSubagentEnded({ childSessionKey }) {
      if (!store.prepared.has(childSessionKey)) throw new Error("unknown child");
    },
  })),
};
