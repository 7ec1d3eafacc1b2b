// An engine that records the beginning of a turn again.
import { type BrokenEngines, fullWith, storeAgain } from "./break.ts";

export const BROKEN_AFTER_TURN: BrokenEngines = {
  "after-turn/only-new-messages": fullWith((engine, store) => {
    const starts = new Set<string>();
    return {
      async afterTurn(params) {
        const start = `${params.sessionId} ${params.prePromptMessageCount}`;
        const isThird = starts.size === 2 && !starts.has(start);
        starts.add(start);
        if (isThird)
          storeAgain(store, params, params.messages.slice(0, params.prePromptMessageCount));
        await engine.afterTurn(params);
      },
    };
  }),
};
