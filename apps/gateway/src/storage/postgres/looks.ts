// Asks how sessions stand once a tick, for all who wait to hear it.
import type { Standing } from "../storage.ts";

export interface Looks {
  /** At the next tick. Rejects where that fails, or when the signal fires. */
  look(key: string, options: { name: string | null; signal: AbortSignal }): Promise<Standing>;
}

export interface LooksOptions {
  /** In the order they are asked for. */
  ask(sessions: readonly Asked[]): Promise<readonly Standing[]>;
  /** Between two questions. */
  everyMs: number;
  now?: () => number;
}

export interface Asked {
  key: string;
  /** Of a message. */
  name: string | null;
}

interface Waiting extends Asked {
  take(standing: Standing): void;
  fail(error: unknown): void;
}

export function createLooks({ ask, everyMs, now = () => performance.now() }: LooksOptions): Looks {
  let waiting: Waiting[] = [];
  let isSet = false;
  let askedAt = Number.NEGATIVE_INFINITY;
  const tick = async () => {
    isSet = false;
    const all = waiting;
    waiting = [];
    if (all.length === 0) return;
    askedAt = now();
    try {
      const standings = await ask(all.map(({ key, name }) => ({ key, name })));
      for (const [index, one] of all.entries()) one.take(standings[index]!);
    } catch (error) {
      for (const one of all) one.fail(error);
    }
  };
  return {
    look(key, { name, signal }) {
      const { promise, resolve, reject } = Promise.withResolvers<Standing>();
      if (signal.aborted) return Promise.reject(signal.reason);
      const leave = () => {
        waiting = waiting.filter((other) => other !== one);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      const stop = () => signal.removeEventListener("abort", leave);
      promise.then(stop, stop);
      const one: Waiting = { key, name, take: resolve, fail: reject };
      waiting.push(one);
      if (!isSet) {
        isSet = true;
        setTimeout(() => void tick(), Math.max(0, askedAt + everyMs - now())).unref();
      }
      return promise;
    },
  };
}
