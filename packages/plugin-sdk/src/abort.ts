// Waits that end at an abort or a bound and leave nothing behind.

/** The longest wait the platform's timers know. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

type Timer = ReturnType<typeof setTimeout>;

/** Resolves after `ms`, or rejects with the reason of a signal that is aborted by then. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: Timer | undefined;
  return abortable(
    signal,
    () =>
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, Math.min(ms, LONGEST_TIMER_MS));
      }),
  ).finally(() => clearTimeout(timer));
}

/**
 * Awaits `work`, but not past an abort, whose reason is thrown as it is. Under a signal that is
 * already aborted `work` is not called; what it does after an abort is ignored.
 */
export async function abortable<Result>(
  signal: AbortSignal | undefined,
  work: () => Result | PromiseLike<Result>,
): Promise<Result> {
  if (signal === undefined) return await work();
  signal.throwIfAborted();
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    // Before `work` can listen: its own answer to the abort must not come first.
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort);
  });
  try {
    const working = promised(work);
    // In this order: work that aborts the signal at once has no say either.
    return await Promise.race([aborted, working]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** What `within` waits for at most. */
export interface WaitBound<Result> {
  /** Milliseconds; more than 2^31 − 1 = no bound. */
  boundMs: number;
  /** Absent: nothing ends the wait but the bound. */
  signal?: AbortSignal | undefined;
  /** Gives the result in place of the work's, or throws, when the bound is reached. */
  onTimeout: () => Result;
  /**
   * Told of the work's end when nobody waited for it any more; what it throws is ignored. Absent:
   * nobody is.
   */
  onLate?: (outcome: { ok: boolean; error?: unknown }) => void;
}

/**
 * Awaits `work`, but no longer than the bound and not past an abort. `restart` starts the bound
 * again, because progress was made.
 */
export async function within<Result>(
  { boundMs, signal, onTimeout, onLate }: WaitBound<Result>,
  work: (restart: () => void) => Result | PromiseLike<Result>,
): Promise<Result> {
  let over = false;
  let timer: Timer | undefined;
  try {
    return await abortable(signal, () => {
      let restart = () => {};
      const late = new Promise<Result>((resolve) => {
        restart = () => {
          clearTimeout(timer);
          if (!over && boundMs <= LONGEST_TIMER_MS)
            timer = setTimeout(() => resolve(promised(onTimeout)), boundMs);
        };
      });
      restart();
      const working = promised(() => work(restart));
      working
        .then(
          () => over && onLate?.({ ok: true }),
          (error: unknown) => over && onLate?.({ ok: false, error }),
        )
        .catch(() => {});
      return Promise.race([working, late]);
    });
  } finally {
    over = true;
    clearTimeout(timer);
  }
}

/** A signal of one's own that follows others. */
export interface LinkedSignal {
  /** To be handed to the work. */
  readonly signal: AbortSignal;
  /** Ends the work; the others are left alone. */
  abort(reason?: unknown): void;
  /** Stops following; to be called when the work is done, however it ended. */
  release(): void;
}

/** A signal that is aborted with the first of `signals` that is, or by its own `abort`. */
export function linkSignals(...signals: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const controller = new AbortController();
  const followed = signals.filter((signal) => signal !== undefined);
  const listeners = followed.map((signal) => ({ signal, onAbort: () => abort(signal.reason) }));
  const release = () => {
    for (const { signal, onAbort } of listeners) signal.removeEventListener("abort", onAbort);
  };
  const abort = (reason?: unknown) => {
    release();
    controller.abort(reason);
  };
  const already = followed.find(({ aborted }) => aborted);
  if (already !== undefined) controller.abort(already.reason);
  else for (const { signal, onAbort } of listeners) signal.addEventListener("abort", onAbort);
  return { signal: controller.signal, abort, release };
}

/** A synchronous throw becomes a rejection. */
const promised = async <Result>(work: () => Result | PromiseLike<Result>): Promise<Result> =>
  work();
