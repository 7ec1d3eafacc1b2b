// Engines whose compaction does nothing, loses something, or says what is not so.
import { runtimeCompactionSlot } from "../../delegate.ts";
import { stored } from "../full-engine.ts";
import { type BrokenEngines, fullWith, memoryWith } from "./break.ts";

export const BROKEN_COMPACT: BrokenEngines = {
  "compact/delegates": memoryWith(() => ({
    compact: () => ({ ok: true, compacted: false, reason: "nothing to compact" }),
  })),
  "compact/no-built-in": memoryWith(() => ({
    compact(params) {
      const builtIn = runtimeCompactionSlot()?.getStore();
      if (builtIn === undefined) throw new Error("no built-in compaction");
      return builtIn(params);
    },
  })),
  "compact/smaller": fullWith(() => ({
    compact: ({ currentTokenCount = 0, abortSignal }) => {
      abortSignal?.throwIfAborted();
      return {
        ok: true,
        compacted: true,
        result: { tokensBefore: currentTokenCount, tokensAfter: 0 },
      };
    },
  })),
  "compact/reported-numbers": fullWith((engine) => ({
    async compact(params) {
      const outcome = await engine.compact(params);
      return outcome.result
        ? { ...outcome, result: { ...outcome.result, tokensAfter: outcome.result.tokensBefore } }
        : outcome;
    },
  })),
  "compact/deferred": fullWith((engine) => ({
    info: { ...engine.info, turnMaintenanceMode: "background" },
    compact(params) {
      if (params.force) return engine.compact(params);
      params.abortSignal?.throwIfAborted();
      return { ok: true, compacted: false, reason: "vertagt" };
    },
  })),
  "compact/keeps-request": fullWith((engine, store) => ({
    async compact(params) {
      const outcome = await engine.compact(params);
      const session = stored(store, params);
      // Of a history that ends with what a summary stands for it shows all.
      const names = [...session.messages.keys()].slice(0, -1);
      if (outcome.compacted) for (const name of names) session.covered.add(name);
      return outcome;
    },
  })),
  "compact/any-model": fullWith((engine, store) => ({
    async compact(params) {
      const outcome = await engine.compact(params);
      const said = await params.runtimeContext?.llm?.complete({ messages: [] });
      if (outcome.compacted && said?.text === "") stored(store, params).summary = "";
      return outcome;
    },
  })),
  "compact/model-fails": fullWith((engine) => ({
    async compact(params) {
      const { llm } = params.runtimeContext ?? {};
      let failure: unknown;
      const complete: NonNullable<typeof llm>["complete"] = (asked) =>
        llm!.complete(asked).catch((error: unknown) => {
          failure = error;
          throw error;
        });
      const outcome = await engine.compact(
        llm
          ? { ...params, runtimeContext: { ...params.runtimeContext, llm: { complete } } }
          : params,
      );
      if (failure !== undefined) throw failure;
      return outcome;
    },
  })),
  "compact/at-once": fullWith((engine, store) => ({
    async compact(params) {
      const session = stored(store, params);
      const before = new Map(session.messages);
      const outcome = await engine.compact(params);
      session.messages = before;
      return outcome;
    },
  })),
  "compact/again": fullWith((engine, store) => {
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
};
