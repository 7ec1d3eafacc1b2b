// Writes in order to a client that may read slowly, and gives up on one that does not read.
import type { DoorOutlet } from "../call/door-call.ts";

export interface PacedWriter {
  write(text: string, at: number): void;
  /** Nothing was written since then, and nothing waits. */
  isQuiet(since: number): boolean;
  /** Everything was taken, or nobody takes it. */
  settled(): Promise<void>;
}

/** What may wait for one client, bytes. */
const MAX_WAITING_BYTES = 2 ** 20;

export function createPacedWriter(outlet: DoorOutlet): PacedWriter {
  const encoder = new TextEncoder();
  let waiting = 0;
  let isStuck = false;
  let lastAt = 0;
  let last: Promise<void> = Promise.resolve();
  return {
    write(text, at) {
      if (text === "" || isStuck || outlet.gone.aborted) return;
      const bytes = encoder.encode(text);
      // One piece of any size may wait alone.
      if (waiting > 0 && waiting + bytes.length > MAX_WAITING_BYTES) {
        isStuck = true;
        return outlet.breakOff();
      }
      lastAt = at;
      waiting += bytes.length;
      last = last
        .then(() => outlet.write(bytes))
        .catch(() => {})
        .finally(() => {
          waiting -= bytes.length;
        });
    },
    isQuiet: (since) => waiting === 0 && lastAt <= since,
    settled: () => last,
  };
}
