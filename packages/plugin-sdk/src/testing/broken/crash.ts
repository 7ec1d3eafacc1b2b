// Engines that come back from a crash with another memory.
import { atomicGroups } from "../../transcript/tool-pairs.ts";
import { type BrokenEngines, fullWith, reassemble, storeAgain } from "./break.ts";

export const BROKEN_CRASH: BrokenEngines = {
  "crash/same-assembly": fullWith((engine, _store, restarts) =>
    restarts === 0
      ? {}
      : reassemble(({ messages }) => ({
          messages: messages.slice(atomicGroups(messages)[0]?.end),
        }))(engine),
  ),
  "crash/redelivery": fullWith((engine, store, restarts) => ({
    async afterTurn(params) {
      if (restarts > 0)
        storeAgain(store, params, params.messages.slice(params.prePromptMessageCount));
      await engine.afterTurn(params);
    },
  })),
  "crash/compaction-survives": fullWith((_engine, store, restarts) => {
    if (restarts > 0) for (const session of store.sessions.values()) session.covered.clear();
    return {};
  }),
};
