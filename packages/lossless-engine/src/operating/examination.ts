// Reads all of a database for people and says what of it is damaged.

import { patiently } from "../patiently.ts";
import { INDEX_TABLES, readIndexOn, readOn } from "../store/examine.ts";
import type { Store } from "../store/store.ts";
import { othersTurn, pieceOfTime } from "../turns.ts";
import { counted } from "./describe-store.ts";
import type { OperatingOptions } from "./progress.ts";

/** What reading a database came to. */
export interface Examined {
  /** How many messages were read. */
  readonly read: number;
  /** False: its time was over before the end. */
  readonly isAll: boolean;
  /** Numbers of messages whose rows are damaged. */
  readonly broken: readonly number[];
  /** Numbers of those whose pages are. */
  readonly lost: readonly number[];
  /** True: searches fail. */
  readonly isIndexDamaged: boolean;
}

/** Numbers of broken messages that are told. */
const MOST_TOLD = 10;

/**
 * In pieces of time: a large database keeps nobody waiting. `withinMs`: how long it may take in
 * all; absent = as long as it takes.
 */
export async function examine(
  store: Store,
  { withinMs = Infinity, onProgress, signal }: OperatingOptions & { withinMs?: number } = {},
): Promise<Examined> {
  const end = performance.now() + withinMs;
  const isOver = () => performance.now() >= end;
  const [broken, lost]: [number[], number[]] = [[], []];
  let read = 0;
  for (let from: number | null = 0; from !== null; ) {
    if (isOver()) return { read, broken, lost, isAll: false, isIndexDamaged: false };
    const start: number = from;
    const piece = await patiently(() => readOn(store, start, pieceOfTime()));
    broken.push(...piece.broken);
    lost.push(...piece.lost);
    read += piece.read;
    from = piece.upTo;
    onProgress?.({ part: "reading messages", done: read, of: null });
    await othersTurn();
    signal?.throwIfAborted();
  }
  const index = await examineIndex(store, isOver);
  return { read, broken, lost, isAll: index !== "over", isIndexDamaged: index === "damaged" };
}

async function examineIndex(
  store: Store,
  isOver: () => boolean,
): Promise<"whole" | "damaged" | "over"> {
  for (const table of INDEX_TABLES)
    for (let from: string | null | undefined = "0"; from !== null; ) {
      if (isOver()) return "over";
      const start: string = from;
      from = await patiently(() =>
        readIndexOn(store, { table, from: start, isOver: pieceOfTime() }),
      );
      if (from === undefined) return "damaged";
      await othersTurn();
    }
  return "whole";
}

/** One phrase for each kind of damage; empty = nothing that was read is damaged. */
export function damageOf({ broken, lost, isIndexDamaged }: Examined): string[] {
  const unread = [...broken, ...lost].sort((a, b) => a - b);
  return [
    ...(unread.length > 0 ? [cannotRead(unread)] : []),
    ...(isIndexDamaged ? ["the search index is damaged"] : []),
  ];
}

export const cannotRead = (numbers: readonly number[]): string =>
  `${counted(numbers.length, "message")} cannot be read: ${numbers.slice(0, MOST_TOLD).join(", ")}${numbers.length > MOST_TOLD ? ", …" : ""}`;
