// Asks for numbers that no other machine's database of the same sessions gives.
import { lastNumber, type Numbered, raiseFloor } from "./numbers.ts";
import type { Store } from "./store.ts";

/** The first of so many numbers, all above `above`, that nobody else gets. */
export type ReserveNumbers = (
  kind: Numbered,
  numbers: { count: number; above: number },
) => Promise<number>;

/** Numbers of a kind from one on that are this database's own. */
interface Block {
  readonly first: number;
  readonly end: number;
}

interface Supply {
  readonly reserve: ReserveNumbers;
  readonly blocks: Map<Numbered, Block>;
  /** Which file they are for. */
  file: string;
}

/** Of databases whose sessions move between machines; of all others nobody asks. */
const supplies = new WeakMap<Store, Supply>();

/** From now on the numbers of new rows are asked for. */
export function numberedBy(store: Store, reserve: ReserveNumbers): void {
  if (!supplies.has(store)) supplies.set(store, { reserve, blocks: new Map(), file: "" });
}

/** At once, so that an answer is not waited for with every message. */
const AT_ONCE: Readonly<Record<Numbered, number>> = {
  ...{ message: 256, summary: 64, conversation: 4 },
};
/** Others may add rows between a look and what it is for. */
const SPARE: Readonly<Record<Numbered, number>> = { message: 64, summary: 16, conversation: 2 };

/** Undefined: whoever adds so many messages, and what may come with them, need not wait. */
export function roomFor(store: Store, messages: number): Promise<void> | undefined {
  const supply = supplies.get(store);
  return supply && makeRoom(store, supply, messages);
}

async function makeRoom(store: Store, supply: Supply, messages: number): Promise<void> {
  const { reserve, blocks } = supply;
  // One that was moved away may have used more of them than the one in its place tells.
  if (supply.file !== store.fileInUse()) blocks.clear();
  supply.file = store.fileInUse();
  for (const kind of ["conversation", "message", "summary"] as const) {
    const needed = (kind === "message" ? messages : 1) + SPARE[kind];
    const above = store.read((sql) => lastNumber(sql, kind));
    const block = blocks.get(kind);
    const isIn = block !== undefined && above >= block.first - 1 && above + needed < block.end;
    if (isIn) continue;
    const count = Math.max(AT_ONCE[kind], needed + 1);
    const first = await reserve(kind, { count, above });
    blocks.set(kind, { first, end: first + count });
    store.read((sql) => raiseFloor(sql, kind, first - 1));
  }
}
