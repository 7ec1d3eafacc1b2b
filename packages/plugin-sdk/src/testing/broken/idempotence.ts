// Engines that take for new what they were told before.
import { nameOf, stored } from "../full-engine.ts";
import { type BrokenEngines, fullWith, memoryWith, storeAgain, tick } from "./break.ts";

export const BROKEN_IDEMPOTENCE: BrokenEngines = {
  "idempotence/ingest-twice": memoryWith((engine) => ({
    async ingest(params) {
      await engine.ingest(params);
      return { ingested: true };
    },
  })),
  "idempotence/ingest-at-once": memoryWith((engine) => {
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
  "idempotence/ingest-batch-twice": fullWith((engine) => ({
    async ingestBatch(params) {
      await engine.ingestBatch(params);
      return { ingestedCount: params.messages.length };
    },
  })),
  "idempotence/turn-twice": fullWith((engine, store) => {
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
  "idempotence/told-again": fullWith((engine, store) => {
    const newest = new Map<string, string>();
    return {
      async afterTurn(params) {
        const fresh = params.messages.slice(params.prePromptMessageCount);
        const first = nameOf(fresh[0]!);
        const isOlder = stored(store, params).messages.has(first);
        if (isOlder && newest.has(params.sessionId) && newest.get(params.sessionId) !== first)
          storeAgain(store, params, fresh);
        newest.set(params.sessionId, first);
        await engine.afterTurn(params);
      },
    };
  }),
  "idempotence/bootstrap-twice": fullWith((engine, store) => {
    let runs = 0;
    return {
      async bootstrap(params) {
        if (runs++ > 0) storeAgain(store, params, [...stored(store, params).messages.values()]);
        return engine.bootstrap(params);
      },
    };
  }),
};
