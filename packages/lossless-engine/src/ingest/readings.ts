// Holds back what is told of a session while its file, or a view of it, is stored.
import type { SessionRef } from "@clew/plugin-sdk/core";

/** Which sessions are being read from elsewhere: what came first shall stand first. */
export interface Readings {
  /** What `read` answers; whoever asks for this session waits until then. */
  during<Answer>(session: SessionRef, read: () => Promise<Answer>): Promise<Answer>;
  /** Until nothing of the session is being read. */
  over(session: SessionRef): Promise<void>;
}

export function createReadings(): Readings {
  const running = new Map<string, Promise<unknown>>();
  return {
    async during(session, read) {
      const key = keyOf(session);
      const reading = read();
      running.set(key, reading);
      try {
        return await reading;
      } finally {
        if (running.get(key) === reading) running.delete(key);
      }
    },
    async over(session) {
      // One that fails is told of where it was asked for.
      await running.get(keyOf(session))?.catch(() => {});
    },
  };
}

const keyOf = ({ sessionId, sessionKey = "" }: SessionRef) =>
  JSON.stringify([sessionKey, sessionId]);
