// Decides which entries get another id or parent, so that no history is out of reach.
import { createHash, hash } from "node:crypto";
import { inSlices, type Steps } from "@clew/plugin-sdk/host";
import { type Entry, entryId } from "./entry.ts";

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
}

const NONE = -1;

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

  /** The next entry that is kept. */
  see(entry: Entry, line: Uint8Array): void {
    const at = this.#ids.length;
    const id = entryId(entry);
    const parent = typeof entry.parentId === "string" && id !== undefined ? entry.parentId : null;
    const parentAt = parent === null ? NONE : (this.#newest.get(parent) ?? NONE);
    const number = this.#numberOf(line);
    this.#ids.push(id);
    this.#lines.push(number);
    this.#parents.push(parentAt);
    if (parent !== null && parentAt === NONE) this.#ahead.set(at, parent);
    if (this.#again.has(parentAt)) this.#children.push(at);
    if (id === undefined) return;
    const before = this.#newest.get(id);
    if (before !== undefined) {
      this.#again.add(at);
      this.#linesAgain.add(`${this.#lines[before]} ${id}`).add(`${number} ${id}`);
    }
    this.#newest.set(id, at);
  }

  /** To be asked when all entries have been seen. In slices. */
  async plan(): Promise<LinkPlan> {
    const names = await this.#newNames();
    const moved = await this.#planMoves();
    const links = new Map<number, NewLinks>();
    const nameOf = (at: number) => names.get(at) ?? this.#ids[at] ?? null;
    const parents = function* (this: Links) {
      for (const at of this.#children) yield [at, this.#parents[at]!] as const;
      for (const at of moved) yield [at, this.#before(at)] as const;
    }.bind(this);
    await inSlices(names, ([at, id]) => links.set(at, { id }));
    await inSlices(parents(), ([at, parent]) =>
      links.set(at, { ...links.get(at), parentId: nameOf(parent) }),
    );
    return { links, renamedEntries: names.size, relinkedEntries: moved.size };
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

  /** Entries that are to follow the one before them in the file. */
  async #planMoves(): Promise<Set<number>> {
    const moved = new Set<number>();
    const ahead = new Map<number, number>();
    await inSlices(this.#ahead, ([at, parent]) => {
      const parentAt = this.#newest.get(parent);
      if (parentAt !== undefined) ahead.set(at, parentAt);
      // What the first entry follows was never in this file, or is not any more.
      else if (this.#before(at) !== NONE) moved.add(at);
    });
    for (const at of await this.#inCircles(ahead, moved)) moved.add(at);
    // Where one circle led into another; without a parent that comes later there is none.
    if ((await this.#inCircles(ahead, moved)).length > 0)
      await inSlices(ahead, ([at]) => moved.add(at));
    return moved;
  }

  /** Of each circle of parents the entries whose parent comes later: one of these closed it. */
  async #inCircles(
    ahead: ReadonlyMap<number, number>,
    moved: ReadonlySet<number>,
  ): Promise<number[]> {
    const parentOf = (at: number) =>
      moved.has(at) ? this.#before(at) : (ahead.get(at) ?? this.#parents[at]!);
    const walks = new Map<number, number>();
    const found: number[] = [];
    const steps = function* () {
      for (const start of ahead.keys()) {
        let at = start;
        for (; at !== NONE && !walks.has(at); at = parentOf(at)) {
          walks.set(at, start);
          yield;
        }
        if (walks.get(at) !== start) continue;
        const first = at;
        do {
          if (ahead.has(at) && !moved.has(at)) found.push(at);
          at = parentOf(at);
          yield;
        } while (at !== first);
      }
    };
    await inSlices(steps(), () => {});
    return found;
  }

  /** The nearest entry before it that has an id. */
  #before(at: number): number {
    let before = at - 1;
    while (before >= 0 && this.#ids[before] === undefined) before--;
    return before;
  }
}

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
