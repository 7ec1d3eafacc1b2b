// Lets all clients rest while something is measured.

export interface Rest {
  /** For a client, between two messages: resolves at once, or when all may go on. */
  here(): Promise<void>;
  /** A client is done, and is waited for no more. */
  leave(): void;
  /** Does this while everybody rests. */
  during<Result>(work: () => Promise<Result>): Promise<Result>;
}

export function createRest(clients: number): Rest {
  let awake = clients;
  let pause: Pause | undefined;
  const fallAsleep = () => {
    awake--;
    if (awake === 0) pause?.everybody.resolve();
  };
  return {
    async here() {
      if (pause === undefined) return;
      pause.asleep++;
      fallAsleep();
      await pause.over.promise;
    },
    leave: fallAsleep,
    async during(work) {
      const now = {
        ...{ asleep: 0, everybody: Promise.withResolvers<void>() },
        over: Promise.withResolvers<void>(),
      };
      pause = now;
      if (awake === 0) now.everybody.resolve();
      try {
        await now.everybody.promise;
        return await work();
      } finally {
        awake += now.asleep;
        pause = undefined;
        now.over.resolve();
      }
    },
  };
}

interface Pause {
  /** Clients that rest. */
  asleep: number;
  /** Resolves when nobody is awake. */
  everybody: PromiseWithResolvers<void>;
  over: PromiseWithResolvers<void>;
}
