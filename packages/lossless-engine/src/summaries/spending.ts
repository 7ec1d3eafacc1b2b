// Bounds how often a model is asked for words, and lets one rest that does not answer.

import type { SessionRef } from "@clew/plugin-sdk/core";
import type { Store } from "../store/store.ts";

/** What asking has come to, of one session. */
export interface Spending {
  /** False: no call may be made now; true takes one. */
  take(): boolean;
  /** How a call went. */
  note(went: "well" | "badly"): void;
  /** Where it stands, in a sentence for people. Undefined: nobody was asked lately. */
  told(): string | undefined;
}

const MOST_CALLS = 24;
const WINDOW_MS = 10 * 60_000;
/** Calls in a row that bring nothing. */
const MOST_FAILURES = 4;
const REST_MS = 30 * 60_000;

/** `now`: ms. */
export function createSpending(now: () => number = () => performance.now()): Spending {
  let made: number[] = [];
  let failures = 0;
  let restsUntil = -Infinity;
  const lately = () => {
    const time = now();
    made = made.filter((at) => time - at < WINDOW_MS);
    return { time, calls: made.length };
  };
  return {
    take() {
      const { time, calls } = lately();
      if (time < restsUntil || calls >= MOST_CALLS) return false;
      made.push(time);
      return true;
    },
    note(went) {
      failures = went === "well" ? 0 : failures + 1;
      if (failures < MOST_FAILURES) return;
      restsUntil = now() + REST_MS;
      failures = 0;
    },
    told() {
      const { time, calls } = lately();
      const bound = `a model was asked ${calls} of at most ${MOST_CALLS} times in ten minutes`;
      if (time < restsUntil) {
        const minutes = Math.ceil((restsUntil - time) / 60_000);
        return `Words of summaries: ${bound}; it brought nothing ${MOST_FAILURES} times in a row and is asked again in ${minutes} min.`;
      }
      if (calls === 0) return undefined;
      const full = calls >= MOST_CALLS ? ", so it is not asked now" : "";
      return `Words of summaries: ${bound}${full}.`;
    },
  };
}

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
