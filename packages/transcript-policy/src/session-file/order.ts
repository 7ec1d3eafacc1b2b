// Decides in which order entries are written, so that each one stands behind its parent.
import { inSlices } from "@clew/plugin-sdk/host";

/** No parent. */
export const NONE = -1;

export interface OrderRequest {
  /** By the position of an entry, that of its parent; NONE for a root. */
  parents: readonly number[];
  /** Entries that began before others they stand behind: by their position, that of the first. */
  early: ReadonlyMap<number, number>;
  /** True: what is at position 0 stays there. */
  hasHeader: boolean;
}

export interface EntryOrder {
  /** Positions in the order in which they are to be written. */
  order: readonly number[];
  /** Entries whose parent comes later and whose parents form a circle: one of these closed it. */
  circular: ReadonlySet<number>;
  /** Entries that have to be put behind a parent that followed them. */
  movedEntries: number;
}

/**
 * The order of the file, but an entry that stands before its parent comes right behind it. A file
 * in which most do was written backwards, and is read from its end. In slices.
 */
export async function planOrder({ parents, ...file }: OrderRequest): Promise<EntryOrder> {
  const isBackwards = await areMostBackwards(parents);
  const base = isBackwards ? fromTheEnd(parents, file) : withEarly(parents, file);
  const places = new Int32Array(parents.length);
  await inSlices(base.entries(), ([place, at]) => {
    places[at] = place;
  });
  const circular = await circularOnes(parents, (at) => places[parents[at]!]! >= places[at]!);
  const writing = new Writing(parents, circular);
  await inSlices(writing.steps(base), () => {});
  const { order, put } = writing;
  return { order, circular, movedEntries: isBackwards ? order.length - +file.hasHeader : put };
}

type File = Omit<OrderRequest, "parents">;

function fromTheEnd(parents: readonly number[], { hasHeader }: File): number[] {
  const order = [...parents.keys()];
  return hasHeader ? [0, ...order.slice(1).toReversed()] : order.toReversed();
}

function withEarly(parents: readonly number[], { early }: File): number[] {
  const order: number[] = [];
  const before = Map.groupBy(early.keys(), (at) => early.get(at)!);
  for (const at of parents.keys()) {
    for (const each of before.get(at) ?? []) order.push(each);
    if (!early.has(at)) order.push(at);
  }
  return order;
}

/** Writes an entry when its parent has been written. */
class Writing {
  readonly order: number[] = [];
  /** How many had to wait. */
  put = 0;
  readonly #parents: readonly number[];
  readonly #circular: ReadonlySet<number>;
  readonly #written: Uint8Array;
  /** By their parent, those that wait for it. */
  readonly #waiting = new Map<number, number[]>();

  constructor(parents: readonly number[], circular: ReadonlySet<number>) {
    this.#parents = parents;
    this.#circular = circular;
    this.#written = new Uint8Array(parents.length);
  }

  *steps(base: readonly number[]) {
    for (const at of base) {
      yield;
      const parent = this.#circular.has(at) ? NONE : this.#parents[at]!;
      if (parent === NONE || this.#written[parent] === 1) {
        yield* this.#write(at);
        continue;
      }
      this.put++;
      const others = this.#waiting.get(parent);
      if (others === undefined) this.#waiting.set(parent, [at]);
      else others.push(at);
    }
  }

  /** The entry, and all that waited for it. */
  *#write(first: number) {
    const open = [first];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      yield;
      this.order.push(at);
      this.#written[at] = 1;
      const waiting = this.#waiting.get(at);
      if (waiting === undefined) continue;
      this.#waiting.delete(at);
      for (const each of waiting.toReversed()) open.push(each);
    }
  }
}

/** True: most entries stand right before their parent. */
async function areMostBackwards(parents: readonly number[]): Promise<boolean> {
  let backwards = 0;
  let others = 0;
  await inSlices(parents.entries(), ([at, parent]) => {
    if (parent === at + 1) backwards++;
    else if (parent !== NONE) others++;
  });
  return backwards > others;
}

/** Of each circle of parents, those for whom `isAhead`: one of them closed it. */
async function circularOnes(
  parents: readonly number[],
  isAhead: (at: number) => boolean,
): Promise<Set<number>> {
  const found = new Set<number>();
  /** By position, the walk that came there first. */
  const walks = new Int32Array(parents.length).fill(NONE);
  const steps = function* () {
    for (let start = 0; start < parents.length; start++) {
      let at = start;
      for (; at !== NONE && walks[at] === NONE; at = parents[at]!) {
        walks[at] = start;
        yield;
      }
      if (at === NONE || walks[at] !== start) continue;
      const first = at;
      do {
        if (isAhead(at)) found.add(at);
        at = parents[at]!;
        yield;
      } while (at !== first);
    }
  };
  await inSlices(steps(), () => {});
  return found;
}
