// Remembers what was told of a turn that runs, for those who come in its midst.
import type { TurnEvent } from "@clew/engine-core";

export interface EventRing {
  add(event: TurnEvent): void;
  /** In order; nothing any more once it was too much. */
  events(): readonly TurnEvent[];
}

/** Characters of replies that are remembered of one turn. */
const MOST_CHARS = 2 ** 20;

/** What tells of requests is large, and only for those who follow every session. */
const FORGOTTEN: ReadonlySet<TurnEvent["type"]> = new Set(["call", "call_end", "compaction"]);

export function createEventRing(most = MOST_CHARS): EventRing {
  let events: TurnEvent[] = [];
  let chars = 0;
  return {
    add(event) {
      if (FORGOTTEN.has(event.type) || chars > most) return;
      const last = events.at(-1);
      if (event.type === "text" || event.type === "thinking") {
        chars += event.delta.length;
        if (last?.type === event.type)
          events[events.length - 1] = { ...event, delta: last.delta + event.delta };
        else events.push(event);
      } else events.push(event);
      // The beginning of it alone would be taken for the whole.
      if (chars > most) events = events.filter(({ type }) => type === "accepted");
    },
    events: () => events,
  };
}
