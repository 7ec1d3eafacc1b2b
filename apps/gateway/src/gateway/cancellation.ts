// Which work is under way in each session, so that it can be cancelled.
import { type LinkedSignal, linkSignals } from "@clew/plugin-sdk/host";

export interface Cancellation {
  /** `cancel` reaches the work as long as it runs or waits. */
  run<Result>(
    key: string,
    signal: AbortSignal | undefined,
    work: (cancelled: AbortSignal) => Promise<Result>,
  ): Promise<Result>;
  /** False when nothing is under way. */
  cancel(key: string): boolean;
  /** Everything, unless `done` comes within `graceMs`. Settles like `done`. */
  cancelAllAfter(graceMs: number, done: Promise<void>): Promise<void>;
}

export function createCancellation(): Cancellation {
  const running = new Map<string, Set<LinkedSignal>>();
  const abort = (signals: Iterable<LinkedSignal>, why: string) => {
    for (const linked of signals) linked.abort(new DOMException(why, "AbortError"));
  };
  return {
    async run(key, signal, work) {
      const linked = linkSignals(signal);
      const together = running.get(key) ?? new Set();
      running.set(key, together.add(linked));
      try {
        return await work(linked.signal);
      } finally {
        together.delete(linked);
        if (together.size === 0) running.delete(key);
        linked.release();
      }
    },
    cancel(key) {
      const found = running.get(key);
      abort(found ?? [], "Cancelled by the person.");
      return found !== undefined;
    },
    async cancelAllAfter(graceMs, done) {
      const cancelAll = () => {
        for (const signals of running.values()) abort(signals, "The gateway is stopping.");
      };
      const timer = setTimeout(cancelAll, graceMs);
      await done.finally(() => clearTimeout(timer));
    },
  };
}
