// Engines that compact on although they were told to stop.
import { type BrokenEngines, fullWith } from "./break.ts";

export const BROKEN_ABORT: BrokenEngines = {
  "abort/before-compact": fullWith((engine) => ({
    compact: ({ abortSignal: _signal, ...params }) => engine.compact(params),
  })),
  "abort/during-compact": fullWith((engine) => ({
    compact({ abortSignal, ...params }) {
      abortSignal?.throwIfAborted();
      return engine.compact(params);
    },
  })),
  "abort/afterwards": fullWith((engine) => {
    let isBusy = false;
    return {
      async compact(params) {
        if (isBusy) return { ok: true, compacted: false, code: "busy", reason: "it compacts" };
        isBusy = true;
        const outcome = await engine.compact(params);
        isBusy = false;
        return outcome;
      },
    };
  }),
};
