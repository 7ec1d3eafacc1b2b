// Keeps the newest events within bounds, each under its number.

export interface KeptEvent {
  /** Counts all events of this process from 1. */
  number: number;
  /** Sessions whose followers are told; null = all are. */
  sessions: readonly string[] | null;
  /** As it is sent. */
  bytes: Uint8Array;
}

export interface Ring {
  /** Number of the newest event, kept or not; 0 = there was none. */
  newest(): number;
  /** Undefined: not kept any more, or not there yet. */
  get(number: number): KeptEvent | undefined;
  /** True: everything after `number` is here. */
  holdsAfter(number: number): boolean;
  add(event: Omit<KeptEvent, "number">): void;
  /** An event happened that nobody will ask for; what was kept is let go. */
  skip(): void;
}

/** Compacted when so many leading places are empty. */
const SPARE_PLACES = 1024;

export function createRing({ maxEvents, maxBytes }: { maxEvents: number; maxBytes: number }): Ring {
  let events: (KeptEvent | undefined)[] = [];
  /** Place of the oldest in `events`, and its number. */
  let oldest = 0;
  let first = 1;
  let bytes = 0;
  const newest = () => first + (events.length - oldest) - 1;
  const dropOldest = () => {
    bytes -= events[oldest]!.bytes.length;
    events[oldest] = undefined;
    oldest++;
    first++;
    if (oldest < SPARE_PLACES || oldest < events.length / 2) return;
    events = events.slice(oldest);
    oldest = 0;
  };
  return {
    newest,
    get: (number) => (number < first ? undefined : events[oldest + number - first]),
    holdsAfter: (number) => number >= first - 1 && number <= newest(),
    add(event) {
      events.push({ ...event, number: newest() + 1 });
      bytes += event.bytes.length;
      while (events.length - oldest > maxEvents || bytes > maxBytes) dropOldest();
    },
    skip() {
      first = newest() + 2;
      events = [];
      oldest = 0;
      bytes = 0;
    },
  };
}
