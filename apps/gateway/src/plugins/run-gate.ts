// Lets runs go on side by side, and a reload only when no run is going on.

export interface RunGate {
  /** Waits for a reload under way or waiting, then runs `work` beside others. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Waits until nothing runs, then runs `work` alone; runs that come later wait for it. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>;
}

export function createRunGate(): RunGate {
  let running = 0;
  let closed: Promise<unknown> | undefined;
  let onIdle: (() => void) | undefined;
  const alone = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    while (closed !== undefined) await closed;
    const { promise, resolve } = Promise.withResolvers<void>();
    closed = promise;
    try {
      if (running > 0)
        await new Promise<void>((idle) => {
          onIdle = idle;
        });
      return await work();
    } finally {
      closed = undefined;
      resolve();
    }
  };
  return {
    alone,
    async run(work) {
      while (closed !== undefined) await closed;
      running++;
      try {
        return await work();
      } finally {
        running--;
        if (running === 0) onIdle?.();
      }
    },
  };
}
