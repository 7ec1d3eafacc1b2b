// Decides which entries get another id or parent, so that no history is out of reach.
import { createHash, hash } from "node:crypto";
import { inSlices, type Steps } from "@clew/plugin-sdk/host";
import { type Entry, entryId } from "./entry.ts";
import { NONE, planOrder } from "./order.ts";

/** What is written instead of an entry's id and its parent's. */
export interface NewLinks {
  /** Absent: it keeps its own. */
  id?: string;
  /** Absent: it keeps what it says. */
  parentId?: string | null;
}

export interface LinkPlan {
  /** By the position of an entry among all that are kept. */
  links: ReadonlyMap<number, NewLinks>;
  /** Entries whose id another one had before. */
  renamedEntries: number;
  /** Entries whose parent is not there, or that are their own parents' parents. */
  relinkedEntries: number;
  /** Entries that stand elsewhere now, because their parent followed them. */
  movedEntries: number;
  /** Positions in the order in which they are to be written. Absent: that of the file. */
  order?: readonly number[];
}

/** Looks at entries in order, and remembers ids and numbers, nothing of what they hold. */
export class Links {
  readonly #numberOf: (line: Uint8Array) => number;
  readonly #ids: (string | undefined)[] = [];
  readonly #lines: number[] = [];
  /** Positions of parents; NONE for a root, and for one that was not there yet. */
  readonly #parents: number[] = [];
  /** By id, the newest: what follows an id that is there twice means the entry before it. */
  readonly #newest = new Map<string, number>();
  /** Positions of entries whose id was there before. */
  readonly #again = new Set<number>();
  readonly #linesAgain = new Set<string>();
  /** Positions of entries whose parent is among those. */
  readonly #children: number[] = [];
  /** Parents that were not there yet, by position. */
  readonly #ahead = new Map<number, string>();
  /** Positions of entries without a parent behind what has no place in the tree. */
  readonly #cutOff = new Set<number>();
  #isBehindGap = false;
  /** By position, the position before which an entry began. */
  readonly #early = new Map<number, number>();

  /** `comparesLines` false: of two entries with one id the later one is renamed, never a copy. */
  constructor({ comparesLines = true } = {}) {
    this.#numberOf = comparesLines ? numberOf : () => Number.NaN;
  }

  /** True: the same line stands before this one, which is not to be seen, then. */
  isCopy(entry: Entry, line: Uint8Array): boolean {
    const id = entryId(entry);
    const before = id === undefined ? undefined : this.#newest.get(id);
    if (before === undefined) return false;
    const number = this.#numberOf(line);
    return this.#lines[before] === number || this.#linesAgain.has(`${number} ${id}`);
  }

  /** How many entries are kept so far. */
  get count(): number {
    return this.#ids.length;
  }

  /** The next entry that is kept; it began when there were `begunAt` of them. */
  see(entry: Entry, line: Uint8Array, begunAt = this.count): void {
    const at = this.count;
    if (begunAt < at) this.#early.set(at, begunAt);
    const id = entryId(entry);
    const parent = typeof entry.parentId === "string" && id !== undefined ? entry.parentId : null;
    const parentAt = parent === null ? NONE : (this.#newest.get(parent) ?? NONE);
    const number = this.#numberOf(line);
    this.#ids.push(id);
    this.#lines.push(number);
    this.#parents.push(parentAt);
    if (parent !== null && parentAt === NONE) this.#ahead.set(at, parent);
    if (this.#again.has(parentAt)) this.#children.push(at);
    if (id === undefined) {
      this.seeGap();
      return;
    }
    if (this.#isBehindGap && entry.parentId === null) this.#cutOff.add(at);
    this.#isBehindGap = false;
    const before = this.#newest.get(id);
    if (before !== undefined) {
      this.#again.add(at);
      this.#linesAgain.add(`${this.#lines[before]} ${id}`).add(`${number} ${id}`);
    }
    this.#newest.set(id, at);
  }

  /** What stands here has no place: whoever wrote it no longer knew what the next entry follows. */
  seeGap(): void {
    this.#isBehindGap = this.#newest.size > 0;
  }

  /** To be asked when all entries have been seen. In slices. */
  async plan(): Promise<LinkPlan> {
    const names = await this.#newNames();
    const { lost, order, movedEntries } = await this.#planPlaces();
    const links = new Map<number, NewLinks>();
    const parents = function* (this: Links) {
      for (const at of this.#children) yield [at, this.#parents[at]!] as const;
      yield* lost;
    }.bind(this);
    await inSlices(names, ([at, id]) => links.set(at, { id }));
    await inSlices(parents(), ([at, parent]) =>
      links.set(at, {
        ...links.get(at),
        parentId: names.get(parent) ?? this.#ids[parent] ?? null,
      }),
    );
    const counts = { renamedEntries: names.size, relinkedEntries: lost.size, movedEntries };
    return { links, ...counts, ...(order !== undefined && { order }) };
  }

  /** A new id for each entry whose id is taken; the first one keeps it. */
  async #newNames(): Promise<Map<number, string>> {
    const names = new Map<number, string>();
    const counts = new Map<string, number>();
    await inSlices(this.#again, (at) => {
      const id = this.#ids[at]!;
      let count = (counts.get(id) ?? 1) + 1;
      while (this.#newest.has(`${id}.${count}`)) count++;
      counts.set(id, count);
      names.set(at, `${id}.${count}`);
    });
    return names;
  }

  /** Where entries go that stand before their parent, and what those follow that lost theirs. */
  async #planPlaces(): Promise<Pick<LinkPlan, "order" | "movedEntries"> & { lost: NewParents }> {
    const orphans = new Set(this.#cutOff);
    await inSlices(this.#ahead, ([at, parent]) => {
      const parentAt = this.#newest.get(parent);
      if (parentAt === undefined) orphans.add(at);
      else this.#parents[at] = parentAt;
      if (parentAt !== undefined && this.#again.has(parentAt)) this.#children.push(at);
    });
    if (this.#early.size === 0 && orphans.size === this.#ahead.size + this.#cutOff.size)
      return { lost: await this.#follow(orphans, new Set()), movedEntries: 0 };
    const { order, circular, movedEntries } = await planOrder({
      ...{ parents: this.#parents, early: this.#early },
      hasHeader: this.#ids[0] === undefined,
    });
    const lost = await this.#follow(orphans, circular, order);
    const isSame = order.every((at, place) => at === place);
    return isSame ? { lost, movedEntries } : { lost, movedEntries, order };
  }

  /** What entries are to follow: the nearest one, as they are to be written, that has an id. */
  async #follow(
    orphans: ReadonlySet<number>,
    circular: ReadonlySet<number>,
    order?: readonly number[],
  ): Promise<NewParents> {
    const lost = new Map<number, number>();
    if (orphans.size + circular.size === 0) return lost;
    let before = NONE;
    await inSlices(order ?? this.#ids.keys(), (at) => {
      // What the first entry follows was never in this file, or is not any more.
      if (circular.has(at) || (orphans.has(at) && before !== NONE)) lost.set(at, before);
      if (this.#ids[at] !== undefined) before = at;
    });
    return lost;
  }
}

/** By the position of an entry, that of its new parent; NONE: it has none. */
type NewParents = ReadonlyMap<number, number>;

/** Equal for equal lines; for others of the same id, not in our lifetime. */
const numberOf = (line: Uint8Array): number =>
  ahead.get(line) ?? hash("sha1", line, "buffer").readUIntBE(0, NUMBER_BYTES);

const NUMBER_BYTES = 6;
/** Numbers of lines that are not seen yet. */
const ahead = new WeakMap<Uint8Array, number>();
const PIECE_BYTES = 2 ** 20;

/** Numbers a line of many megabytes in steps, before it is seen. */
export function* numberAheadSteps(line: Uint8Array): Steps<void> {
  const sum = createHash("sha1");
  for (let at = 0; at < line.length; at += PIECE_BYTES) {
    yield;
    sum.update(line.subarray(at, at + PIECE_BYTES));
  }
  ahead.set(line, sum.digest().readUIntBE(0, NUMBER_BYTES));
}
