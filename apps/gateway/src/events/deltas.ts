// Joins pieces of replies that arrive close together.

export interface Deltas {
  add(session: string, type: "text" | "thinking", delta: string): void;
  /** Tells what waits of the session; of all of them where none is named. */
  flush(session?: string): void;
}

interface Waiting {
  type: "text" | "thinking";
  delta: string;
  timer: NodeJS.Timeout | undefined;
}

/** The first piece is told at once, what comes within `waitMs` after it together. */
export function createDeltas({
  waitMs,
  tell,
}: {
  waitMs: number;
  tell: (session: string, type: "text" | "thinking", delta: string) => void;
}): Deltas {
  const waiting = new Map<string, Waiting>();
  const flushOne = (session: string) => {
    const found = waiting.get(session);
    clearTimeout(found?.timer);
    waiting.delete(session);
    if (found !== undefined && found.delta !== "") tell(session, found.type, found.delta);
  };
  const pause = (session: string, type: Waiting["type"]) => {
    const timer = setTimeout(() => {
      const hadMore = waiting.get(session)?.delta !== "";
      flushOne(session);
      if (hadMore) pause(session, type);
    }, waitMs).unref();
    waiting.set(session, { type, delta: "", timer });
  };
  return {
    add(session, type, delta) {
      if (waiting.get(session)?.type !== type) flushOne(session);
      const found = waiting.get(session);
      if (found !== undefined) {
        found.delta += delta;
        return;
      }
      tell(session, type, delta);
      pause(session, type);
    },
    flush(session) {
      for (const key of session === undefined ? [...waiting.keys()] : [session]) flushOne(key);
    },
  };
}
