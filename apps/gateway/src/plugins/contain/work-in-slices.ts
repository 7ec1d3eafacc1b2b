// Does what comes in floods piece by piece, so that others have their turn between.

export interface SliceClock {
  /** Monotonic ms. */
  now(): number;
  /** Calls it once others had their turn, unless the process ends before. */
  later(work: () => void): void;
}

/** As they are before any plugin. */
const { setImmediate: soon, performance } = globalThis;
const now = performance.now.bind(performance);
const CLOCK: SliceClock = { now, later: (work) => void soon(work).unref() };
/** Longest that others wait for what need not be done now, but for its longest piece. */
const SLICE_MS = 5;

/** What is handed to the function is worked on in order, never at once. */
export function workInSlices<Item>(
  work: (item: Item) => void,
  clock: SliceClock = CLOCK,
): (item: Item) => void {
  let items: Item[] = [];
  let next = 0;
  const slice = () => {
    const end = clock.now() + SLICE_MS;
    try {
      do work(items[next++]!);
      while (next < items.length && clock.now() < end);
    } finally {
      // Also behind one that threw.
      if (next < items.length) clock.later(slice);
      else {
        items = [];
        next = 0;
      }
    }
  };
  return (item) => {
    items.push(item);
    if (items.length === 1) clock.later(slice);
  };
}
