// Tells of large bodies that could not be put where they belong.
import type { LogPort } from "@clew/engine-core";
import type { KeptInRows } from "@clew/store-postgres";
import { describeBytes } from "../../limits/size.ts";
import { counted } from "../../text/number.ts";

/** What turns say of it, by session. */
export interface KeptNotices {
  add(kept: KeptInRows): void;
  /** Sentences since the last time. */
  take(sessionKey: string): string[];
}

/** The log says it once as long as the reason is the same, at most once in this time, ms. */
const QUIET_MS = 10 * 60_000;
/** Of turns that never say it. */
const MOST_SESSIONS = 1000;

export function createKeptNotices(log: Pick<LogPort, "warn"> | undefined): KeptNotices {
  const waiting = new Map<string, string[]>();
  let logged: { why: string; at: number } | undefined;
  return {
    add(kept) {
      const text = sentenceOf(kept);
      const isNew = logged?.why !== kept.why || performance.now() - logged.at > QUIET_MS;
      if (isNew) {
        log?.warn(text);
        logged = { why: kept.why, at: performance.now() };
      }
      if (kept.sessionKey === null || waiting.size >= MOST_SESSIONS) return;
      waiting.set(kept.sessionKey, [...(waiting.get(kept.sessionKey) ?? []), text]);
    },
    take(sessionKey) {
      const texts = waiting.get(sessionKey) ?? [];
      waiting.delete(sessionKey);
      return texts;
    },
  };
}

/** Pure. */
export const sentenceOf = ({ count, bytes, why }: Omit<KeptInRows, "agentId">): string =>
  `${counted(count, "large part")} of the session (${describeBytes(bytes)}) could not be put into the blob storage, and ${count === 1 ? "is" : "are"} kept in the database instead: ${why}`;
