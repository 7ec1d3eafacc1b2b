// Counts who uses an engine, and tells when nobody does.

/** Uses of one live engine. */
export interface Leases {
  /** Somebody was given the engine and will take a lease soon. */
  promise(): void;
  /** Counts one user; the result gives the lease back, once. */
  take(): () => void;
  /**
   * Calls `onUnused` when nobody uses the engine nor is about to, and again whenever somebody used
   * it after all.
   */
  whenUnused(onUnused: () => void): void;
  /** Settles when every lease that was taken is given back. */
  allReturned(): Promise<void>;
}

/** Whoever was given an engine and has not entered it by then will not, ms. */
const PROMISE_MS = 1_000;

export function createLeases(): Leases {
  let taken = 0;
  let promised = 0;
  let onUnused: (() => void) | undefined;
  let waiting: (() => void)[] = [];

  function check(): void {
    if (taken > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
    if (onUnused === undefined) return;
    if (promised === 0) onUnused();
    else {
      promised = 0;
      setTimeout(check, PROMISE_MS).unref();
    }
  }
  return {
    promise: () => void promised++,
    take() {
      taken++;
      promised = Math.max(0, promised - 1);
      let isMine = true;
      return () => {
        if (!isMine) return;
        isMine = false;
        taken--;
        check();
      };
    },
    whenUnused(callback) {
      onUnused = callback;
      check();
    },
    allReturned: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        check();
      }),
  };
}
