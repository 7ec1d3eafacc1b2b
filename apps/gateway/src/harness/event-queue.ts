// Holds what happened in a program until engine-core asks for it.
import type { ExecutionEvent } from "@clew/engine-core";

export interface EventQueue {
  push(event: ExecutionEvent): void;
  /** The oldest that nobody was told of; waits for it. */
  next(): Promise<ExecutionEvent>;
  /** Resolves when all that was told until now is durable, or there is an end. */
  drained(): Promise<void>;
}

/** What comes after an end is dropped: nobody asks for it. */
export function createEventQueue(): EventQueue {
  const events: ExecutionEvent[] = [];
  const askers: ((event: ExecutionEvent) => void)[] = [];
  const drainers: (() => void)[] = [];
  let isOver = false;
  const drain = () => {
    for (const resolve of drainers.splice(0)) resolve();
  };
  return {
    push(event) {
      if (isOver) return;
      isOver = event.type === "end";
      if (isOver) drain();
      const asker = askers.shift();
      if (asker === undefined) events.push(event);
      else asker(event);
    },
    next() {
      const event = events.shift();
      // Whoever asks for more has stored what came before.
      if (event === undefined) drain();
      return event === undefined
        ? new Promise((resolve) => void askers.push(resolve))
        : Promise.resolve(event);
    },
    drained() {
      if (isOver || (events.length === 0 && askers.length > 0)) return Promise.resolve();
      return new Promise((resolve) => void drainers.push(resolve));
    },
  };
}
