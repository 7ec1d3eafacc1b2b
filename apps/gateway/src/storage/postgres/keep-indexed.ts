// Fills the search index, behind the turns of this gateway and when it is asked to.
import { setTimeout as after } from "node:timers/promises";

export interface KeepIndexedOptions {
  /** Indexes the next entries; how many, 0 = none are left. */
  indexNext(signal: AbortSignal): Promise<number>;
  /** How long after a turn, ms. Absent: half a second, so that the next one is not waited with. */
  pauseMs?: number;
}

export interface Indexing {
  /** A turn was stored. */
  onTurnEnd(): void;
  /** Indexes all that is left, whoever left it. Never rejects. */
  fillLeft(signal: AbortSignal): Promise<void>;
  /** Ends it; a batch that is under way is let go. */
  close(): Promise<void>;
}

/** What fails is tried again the next time: a search reads what the index lacks. */
export function keepIndexed({ indexNext, pauseMs = 500 }: KeepIndexedOptions): Indexing {
  const life = new AbortController();
  let running: Promise<void> | undefined;
  let isAsked = false;

  function run(): void {
    isAsked = true;
    running ??= fill().finally(() => {
      running = undefined;
    });
  }
  async function fill(): Promise<void> {
    while (isAsked && !life.signal.aborted) {
      await after(pauseMs, undefined, { signal: life.signal, ref: false }).catch(() => {});
      isAsked = false;
      await fillLeft(life.signal);
    }
  }
  async function fillLeft(given: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([given, life.signal]);
    try {
      while (!signal.aborted && (await indexNext(signal)) > 0);
    } catch {
      // A search reads what the index lacks.
    }
  }
  return {
    onTurnEnd: run,
    fillLeft,
    async close() {
      life.abort();
      await running;
    },
  };
}
