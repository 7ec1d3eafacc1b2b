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
  "subagents/unknown-child": fullWith((_engine, store) => ({
    onSubagentEnded({ childSessionKey }) {
      if (!store.prepared.has(childSessionKey)) throw new Error("unknown child");
    },
  })),
};
