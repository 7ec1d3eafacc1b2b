// Does work one piece at a time.

/** One after the other; a failure is the caller's and does not stop those behind it. */
export function oneAtATime(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

/** A queue for each key. */
export interface KeyedQueue {
  enqueue<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
  /** Pieces of work running or waiting, per key. */
  readonly pending: ReadonlyMap<string, number>;
}

export function createKeyedQueue(): KeyedQueue {
  const last = new Map<string, Promise<unknown>>();
  const pending = new Map<string, number>();
  const leave = (key: string) => {
    const left = (pending.get(key) ?? 1) - 1;
    if (left > 0) return void pending.set(key, left);
    pending.delete(key);
    last.delete(key);
  };
  return {
    pending,
    enqueue(key, work) {
      pending.set(key, (pending.get(key) ?? 0) + 1);
      const result = (last.get(key) ?? Promise.resolve()).then(work).finally(() => leave(key));
      last.set(
        key,
        result.catch(() => undefined),
      );
      return result;
    },
  };
}
