// Remembers the errors of plugins that no caller could catch.
import type { LogPort } from "@clew/engine-core";

export interface StrayRecord {
  /** Since the start. */
  count: number;
  /** The newest one; ISO 8601, and its message. */
  last: { at: string; message: string };
}

export interface Strays {
  /** Takes note of one; false when there were so many that nobody need be told of it. */
  note(pluginId: string, message: string): boolean;
  /** Undefined: the plugin left none behind. */
  of(pluginId: string): StrayRecord | undefined;
}

/** More are told at every power of ten: a plugin may throw a thousand times a second. */
const TOLD_ONE_BY_ONE = 10;

export function createStrays(log: Pick<LogPort, "error">): Strays {
  const records = new Map<string, StrayRecord>();
  return {
    of: (pluginId) => records.get(pluginId),
    note(pluginId, message) {
      const count = (records.get(pluginId)?.count ?? 0) + 1;
      records.set(pluginId, { count, last: { at: new Date().toISOString(), message } });
      const isTold = count <= TOLD_ONE_BY_ONE || /^10*$/.test(String(count));
      const total = count > TOLD_ONE_BY_ONE ? ` (${count} so far)` : "";
      if (isTold) log.error(`[plugins] ${pluginId}: ${message}${total}`);
      return isTold;
    },
  };
}

/** For people: "2 errors that nothing handled, the last at …: …". */
export function describeStrays({ count, last }: StrayRecord): string {
  const what =
    count === 1
      ? "an error that nothing handled,"
      : `${count} errors that nothing handled, the last`;
  return `${what} at ${last.at}: ${last.message}`;
}
