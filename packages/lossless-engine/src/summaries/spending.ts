// Bounds how often a model is asked for words, and lets one rest that does not answer.

import type { SessionRef } from "@clew/plugin-sdk/core";
import type { Store } from "../store/store.ts";

/** What asking has come to, of one session. */
export interface Spending {
  /** False: no call may be made now; true takes one. */
  take(): boolean;
  /** How a call went; "late": somebody waited for it in vain. */
  note(went: "well" | "badly" | "late"): void;
  /** Where it stands, in a sentence for people. Undefined: nobody was asked lately. */
  told(): string | undefined;
  /** From now on. */
  within(bounds: SpendingBounds): void;
}

/** How much asking is allowed. */
export interface SpendingBounds {
  /** Calls of one session in ten minutes. */
  readonly calls: number;
  /** How long a model is left alone that brought nothing four times in a row, ms. */
  readonly restMs: number;
}

const BOUNDS: SpendingBounds = { calls: 24, restMs: 30 * 60_000 };
const WINDOW_MS = 10 * 60_000;
/** Calls in a row that bring nothing. */
const MOST_FAILURES = 4;

/** `now`: ms. */
export function createSpending(now: () => number = () => performance.now()): Spending {
  let made: number[] = [];
  let failures = 0;
  let restsUntil = -Infinity;
  let bounds = BOUNDS;
  let why = "";
  const lately = () => {
    const time = now();
    made = made.filter((at) => time - at < WINDOW_MS);
    return { time, calls: made.length };
  };
  return {
    take() {
      const { time, calls } = lately();
      if (time < restsUntil || calls >= bounds.calls) return false;
      made.push(time);
      return true;
    },
    note(went) {
      failures = went === "well" ? 0 : failures + 1;
      if (went !== "late" && failures < MOST_FAILURES) return;
      why =
        went === "late"
          ? "it was not done when the next turn began"
          : `it brought nothing ${MOST_FAILURES} times in a row`;
      restsUntil = now() + bounds.restMs;
      failures = 0;
    },
    told() {
      const { time, calls } = lately();
      const bound = `a model was asked ${calls} of at most ${bounds.calls} times in ten minutes`;
      if (time < restsUntil) {
        const minutes = Math.ceil((restsUntil - time) / 60_000);
        return `Words of summaries: ${bound}; ${why}, and it is asked again in ${minutes} min.`;
      }
      if (calls === 0) return undefined;
      const full = calls >= bounds.calls ? ", so it is not asked now" : "";
      return `Words of summaries: ${bound}${full}.`;
    },
    within(wanted) {
      bounds = wanted;
    },
  };
}

/** Pure. What an operator said, and the usual for the rest. */
export const spendingBounds = ({
  summaryCalls = BOUNDS.calls,
  summaryRestMinutes = BOUNDS.restMs / 60_000,
}: {
  readonly summaryCalls?: number | undefined;
  readonly summaryRestMinutes?: number | undefined;
}): SpendingBounds => ({ calls: summaryCalls, restMs: summaryRestMinutes * 60_000 });

/** What asking has come to in the newest sessions, whatever engine asked. */
export interface Spendings {
  of(store: Pick<Store, "path">, session: SessionRef): Spending;
}

const MOST_SESSIONS = 1_000;

export function createSpendings(): Spendings {
  const known = new Map<string, Spending>();
  return {
    of({ path }, { sessionKey, sessionId }) {
      const key = JSON.stringify([path, sessionKey ?? sessionId]);
      const spending = known.get(key) ?? createSpending();
      known.delete(key);
      known.set(key, spending);
      if (known.size > MOST_SESSIONS) known.delete(known.keys().next().value!);
      return spending;
    },
  };
}
