// Fills the search index behind the turns of this gateway, and behind those of others.
import { setTimeout as after } from "node:timers/promises";

export interface KeepIndexedOptions {
  /** Indexes the next entries; how many, 0 = none are left. */
  indexNext(signal: AbortSignal): Promise<number>;
  /** How long after a turn, ms. Absent: half a second, so that the next one is not waited with. */
  pauseMs?: number;
  /** How often it looks for what others left, ms. Absent: half a minute. */
  everyMs?: number;
}

export interface Indexing {
  /** A turn was stored. */
  onTurnEnd(): void;
  /** Ends it; a batch that is under way is let go. */
  close(): Promise<void>;
}

/** What fails is tried again the next time: a search reads what the index lacks. */
export function keepIndexed(options: KeepIndexedOptions): Indexing {
  const { indexNext, pauseMs = 500, everyMs = 30_000 } = options;
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
      await fillAll().catch(() => {});
    }
  }
  async function fillAll(): Promise<void> {
    while (!life.signal.aborted && (await indexNext(life.signal)) > 0);
  }
  const timer = setInterval(run, everyMs).unref();
  run();
  return {
    onTurnEnd: run,
    async close() {
      clearInterval(timer);
      life.abort();
      await running;
    },
  };
}
