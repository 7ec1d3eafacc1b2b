// Engines that do not know which turns were committed.
import { record, stored } from "../full-engine.ts";
import { type BrokenEngines, fullWith, tick } from "./break.ts";

export const BROKEN_COMMIT: BrokenEngines = {
  "commit/once": fullWith((engine) => ({
    async commitTurn(params) {
      await engine.commitTurn(params);
      return { status: "committed" };
    },
  })),
  "commit/at-once": fullWith((engine, store) => ({
    async commitTurn(params) {
      const before = store.committed.size;
      await tick();
      const { status } = await engine.commitTurn(params);
      return { status: before === 0 ? "committed" : status };
    },
  })),
  "commit/each-key": fullWith((engine) => {
    let committed = 0;
    return {
      async commitTurn(params) {
        const { status } = await engine.commitTurn(params);
        return { status: status === "committed" && committed++ > 1 ? "duplicate" : status };
      },
    };
  }),
  "commit/killed-within": fullWith((_engine, store) => ({
    async commitTurn(params) {
      const key = `${params.sessionId} ${params.advancementKey}`;
      if (store.committed.has(key)) return { status: "duplicate" };
      store.committed.add(key);
      await new Promise(setImmediate);
      record(stored(store, params), params.messages);
      return { status: "committed" };
    },
  })),
  "commit/after-restart": fullWith((engine, store, restarts) => ({
    commitTurn(params) {
      if (restarts > 0) store.committed.clear();
      return engine.commitTurn(params);
    },
  })),
};
