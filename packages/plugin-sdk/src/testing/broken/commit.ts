// Engines that do not know which turns were committed.
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
  "commit/after-restart": fullWith((engine, store, restarts) => ({
    commitTurn(params) {
      if (restarts > 0) store.committed.clear();
      return engine.commitTurn(params);
    },
  })),
};
