// Remembers the smallest and the newest budget of the newest turn's views, by session.
import type { SessionRef } from "@clew/plugin-sdk/core";

/** What hosts asked for since their sessions' newest turns began. */
export interface AskedBudgets {
  /** A view was asked for. `budget`: tokens; absent = no limit is known. */
  asked(session: SessionRef, budget?: number): void;
  /** What was said is told: views that follow are of the next turn. */
  told(session: SessionRef): void;
  /** In tokens; undefined = nobody asked yet. */
  smallest(session: SessionRef): number | undefined;
  /** The one that was asked for last. Undefined: nobody asked yet. */
  newest(session: SessionRef): number | undefined;
}

interface Asked {
  readonly smallest: number;
  readonly newest: number;
  readonly isOver: boolean;
}

/** Sessions that are remembered; of the one asked longest ago nothing is known any more. */
const MOST_SESSIONS = 1_000;

export function createAskedBudgets(): AskedBudgets {
  const known = new Map<string, Asked>();
  const keyOf = ({ sessionKey, sessionId }: SessionRef) => JSON.stringify([sessionKey, sessionId]);
  return {
    asked(session, budget = Infinity) {
      const key = keyOf(session);
      const earlier = known.get(key);
      known.delete(key);
      const isSameTurn = earlier !== undefined && !earlier.isOver;
      known.set(key, {
        smallest: isSameTurn ? Math.min(earlier.smallest, budget) : budget,
        newest: budget,
        isOver: false,
      });
      if (known.size > MOST_SESSIONS) known.delete(known.keys().next().value!);
    },
    told(session) {
      const earlier = known.get(keyOf(session));
      if (earlier !== undefined) known.set(keyOf(session), { ...earlier, isOver: true });
    },
    smallest: (session) => known.get(keyOf(session))?.smallest,
    newest: (session) => known.get(keyOf(session))?.newest,
  };
}
