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

/** Pieces of a work that says by itself, by `yield`, where others may have their turn. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

// Where a host has no immediates, a timer is the next best.
const soon: (work: () => void) => unknown =
  typeof setImmediate === "function" ? setImmediate : (work) => setTimeout(work, 0);
const waiting: (() => void)[] = [];

/** One at a time: the next one has its turn after everybody else's. */
function admitOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) soon(admitOne);
}

/** When the first piece of this turn of the loop began, ms; undefined = none has. */
let turnBegan: number | undefined;

/** What follows each other without a pause is one piece to everybody who waits, whoever did it. */
function beganInThisTurn(): number {
  if (turnBegan === undefined) {
    turnBegan = performance.now();
    soon(() => {
      turnBegan = undefined;
    });
  }
  return turnBegan;
}

/**
 * The first piece begins now, or with another work's that had its time just before: many short
 * works in a row make pauses, too.
 */
export function createSlices(options: SliceOptions = {}): Slices {
  const { sliceMs = SLICE_MS, signal, now = () => performance.now() } = options;
  const began = options.now ?? beganInThisTurn;
  let end = began() + sliceMs;
  return {
    isOver: () => now() >= end,
    async next() {
      signal?.throwIfAborted();
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 1) soon(admitOne);
      });
      signal?.throwIfAborted();
      end = began() + sliceMs;
    },
  };
}

/** Between two steps of a work: others have their turn, if the piece has had its time. */
export async function pause(signal?: AbortSignal): Promise<void> {
  const slices = createSlices({ signal });
  if (slices.isOver()) await slices.next();
}

/** What `steps` come to, in pieces. Rejects with what they throw. */
export async function stepsInSlices<Result>(
  steps: Steps<Result>,
  options: SliceOptions = {},
): Promise<Result> {
  const slices = createSlices(options);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (slices.isOver()) await slices.next();
  }
}

/** The same at once, for those who cannot wait. */
export function stepsAtOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
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
