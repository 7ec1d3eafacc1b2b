// Holds what happened in a program until engine-core asks for it.
import type { ExecutionEvent } from "@clew/engine-core";

export interface EventQueue {
  push(event: ExecutionEvent): void;
  /** The oldest that nobody was told of; waits for it. */
  next(): Promise<ExecutionEvent>;
  /** How many nobody was told of. */
  readonly waiting: number;
}

/** What comes after an end is dropped: nobody asks for it. */
export function createEventQueue(): EventQueue {
  const events: ExecutionEvent[] = [];
  const askers: ((event: ExecutionEvent) => void)[] = [];
  let isOver = false;
  return {
    push(event) {
      if (isOver) return;
      isOver = event.type === "end";
      const asker = askers.shift();
      if (asker === undefined) events.push(event);
      else asker(event);
    },
    next() {
      const event = events.shift();
      return event === undefined
        ? new Promise((resolve) => void askers.push(resolve))
        : Promise.resolve(event);
    },
    get waiting() {
      return events.length;
    },
  };
}
