// Engines that come back from a crash with another memory.
import { atomicGroups } from "../../transcript/tool-pairs.ts";
import { nameOf, record, stored } from "../full-engine.ts";
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
  "crash/killed-within": fullWith((_engine, store) => ({
    async afterTurn(params) {
      const told = params.messages.slice(params.prePromptMessageCount);
      const session = stored(store, params);
      if (session.messages.has(nameOf(told.at(-1)!))) return;
      const before = new Map(session.messages);
      // The newest first, by which it knows the turn again.
      record(session, told.slice(-1));
      await new Promise(setImmediate);
      session.messages = before;
      record(session, told);
    },
  })),
  "crash/killed-in-compaction": fullWith((engine, store) => ({
    async compact(params) {
      const session = stored(store, params);
      const { covered } = session;
      // The old decision goes before there is a new one.
      session.covered = new Set();
      await new Promise(setImmediate);
      session.covered = covered;
      return engine.compact(params);
    },
  })),
  "crash/compaction-survives": fullWith((_engine, store, restarts) => {
    if (restarts > 0) for (const session of store.sessions.values()) session.covered.clear();
    return {};
  }),
};
