// Remembers what plugins did that they should not have.
import type { LogPort } from "@clew/engine-core";

export interface StrayRecord {
  /** Since the start. */
  count: number;
  /** The newest one; ISO 8601, and its message. */
  last: { at: string; message: string };
}

/** Errors nobody caught, failed hooks, refused calls, changes of what is shared, time taken. */
export type StrayKind = "error" | "hook" | "refused" | "changed" | "busy";

export interface Strays {
  /**
   * Takes note of one, of an error unless it says otherwise; false when there were so many that
   * nobody need be told of it.
   */
  note(pluginId: string, message: string, kind?: StrayKind): boolean;
  /** Undefined: there was nothing of the kind. */
  of(pluginId: string, kind?: StrayKind): StrayRecord | undefined;
}

/** More are told at every power of ten: a plugin may throw a thousand times a second. */
export const TOLD_ONE_BY_ONE = 10;

/** Pure. `count`: of its kind so far. */
export const isToldAgain = (count: number): boolean =>
  count <= TOLD_ONE_BY_ONE || /^10*$/.test(String(count));

/** What was not told before is told all the same, so many times. */
const TOLD_AS_NEW = 50;

export function createStrays(log: Pick<LogPort, "error">): Strays {
  const records = new Map<string, StrayRecord>();
  const told = new Map<string, Set<string>>();
  const isNew = (key: string, message: string) => {
    const before = told.get(key) ?? new Set();
    if (before.has(message) || before.size >= TOLD_AS_NEW) return false;
    told.set(key, before.add(message));
    return true;
  };
  return {
    of: (pluginId, kind = "error") => records.get(`${kind} ${pluginId}`),
    note(pluginId, said, kind = "error") {
      // A line of its own would read as one of Clew's.
      const message = said.replace(/\s*[\r\n\u2028\u2029]+\s*/g, " ");
      const key = `${kind} ${pluginId}`;
      const count = (records.get(key)?.count ?? 0) + 1;
      records.set(key, { count, last: { at: new Date().toISOString(), message } });
      const isTold = isNew(key, message) || isToldAgain(count);
      const total = count > TOLD_ONE_BY_ONE ? ` (${count} so far)` : "";
      if (isTold) log.error(`[plugins] ${pluginId}: ${message}${total}`);
      return isTold;
    },
  };
}

const NAMES: Record<StrayKind, [one: string, many: string]> = {
  error: ["an error that nothing handled", "errors that nothing handled"],
  hook: ["a hook that failed", "hooks that failed"],
  refused: ["something that no plugin may do", "things that no plugin may do"],
  changed: ["a change of what all plugins share", "changes of what all plugins share"],
  busy: ["little time left to others", "times when little was left to others"],
};

/** For people: "2 errors that nothing handled, the last at …: …". */
export function describeStrays({ count, last }: StrayRecord, kind: StrayKind = "error"): string {
  const [one, many] = NAMES[kind];
  const what = count === 1 ? `${one},` : `${count} ${many}, the last`;
  return `${what} at ${last.at}: ${last.message}`;
}
