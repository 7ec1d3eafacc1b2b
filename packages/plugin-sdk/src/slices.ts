// Gives other work its turn between the pieces of long work.

/** How long one piece may take before others have their turn, ms. */
export const SLICE_MS = 8;

/** The pieces of one long work. */
export interface Slices {
  /** True when the piece has had its time: `await next()` then. Cheap enough for every item. */
  isOver(): boolean;
  /**
   * Resolves when everybody else had a turn. All long works of a process take turns, so that
   * several of them keep others waiting no longer than one. Rejects with the reason of an abort.
   */
  next(): Promise<void>;
}

/** How long work is cut up. */
export interface SliceOptions {
  /** Milliseconds per piece. Absent: SLICE_MS. */
  sliceMs?: number;
  /** Ends the work between two pieces. Absent: nothing does. */
  signal?: AbortSignal | undefined;
  /** Monotonic ms. Absent: performance.now. */
  now?: () => number;
}

// Where a host has no immediates, a timer is the next best.
const soon: (work: () => void) => unknown =
  typeof setImmediate === "function" ? setImmediate : (work) => setTimeout(work, 0);
const waiting: (() => void)[] = [];

/** One at a time: the next one has its turn after everybody else's. */
function admitOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) soon(admitOne);
}

/** The first piece begins now. */
export function createSlices(options: SliceOptions = {}): Slices {
  const { sliceMs = SLICE_MS, signal, now = () => performance.now() } = options;
  let end = now() + sliceMs;
  return {
    isOver: () => now() >= end,
    async next() {
      signal?.throwIfAborted();
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 1) soon(admitOne);
      });
      signal?.throwIfAborted();
      end = now() + sliceMs;
    },
  };
}

/**
 * `work` for each item, in order and in pieces. Rejects with what `work` throws.
 * @example
 * ```ts
 * import { inSlices } from "@clew/plugin-sdk/host";
 *
 * let sum = 0;
 * await inSlices([1, 2, 3], (item) => {
 *   sum += item;
 * });
 * console.log(sum);
 * ```
 *
 * ```text
 * 6
 * ```
 */
export async function inSlices<Item>(
  items: Iterable<Item>,
  work: (item: Item) => void,
  options: SliceOptions = {},
): Promise<void> {
  const slices = createSlices(options);
  for (const item of items) {
    if (slices.isOver()) await slices.next();
    work(item);
  }
}
