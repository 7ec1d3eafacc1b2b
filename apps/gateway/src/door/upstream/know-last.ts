// Tells of a piece of an answer whether it is the last one, before it is passed on.
import { setTimeout as sleep } from "node:timers/promises";

/** Whoever has said all ends at once; a piece is not kept longer for that, ms. */
const HOLD_MS = 1000;

export interface KnownPieces {
  pieces: AsyncIterable<Uint8Array>;
  /** True: nothing comes behind the piece that was given last. */
  isOver(): boolean;
}

/**
 * A piece that may be the last one is given when the next one is there, or the end. `holdMs`: at
 * most so long after it came; ms.
 */
export function knowLast(
  bytes: AsyncIterable<Uint8Array>,
  mayBeLast: (piece: Uint8Array) => boolean,
  holdMs = HOLD_MS,
): KnownPieces {
  let isOver = false;
  async function* pieces() {
    const source = bytes[Symbol.asyncIterator]();
    const read = () => {
      const next = source.next();
      // Whoever goes away does not look at it any more.
      next.catch(() => {});
      return next;
    };
    try {
      for (let next = read(); ; ) {
        const { done, value } = await next;
        if (done) return;
        next = read();
        if (mayBeLast(value)) isOver = await isEnd(next, holdMs);
        yield value;
      }
    } finally {
      void source.return?.();
    }
  }
  return { pieces: pieces(), isOver: () => isOver };
}

/** False also where nothing comes for so long, or it breaks off. */
async function isEnd(next: Promise<IteratorResult<Uint8Array>>, holdMs: number): Promise<boolean> {
  const waiting = new AbortController();
  const { signal } = waiting;
  try {
    return await Promise.race([
      next.then(
        ({ done }) => done === true,
        () => false,
      ),
      sleep(holdMs, false, { signal, ref: false }).catch(() => false),
    ]);
  } finally {
    waiting.abort();
  }
}
