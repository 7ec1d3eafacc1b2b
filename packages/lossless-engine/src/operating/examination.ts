// Reads all of a database for people and says what of it is damaged.

import { patiently } from "../patiently.ts";
import { wrongPages } from "../store/audit/pages.ts";
import { INDEX_TABLES, readIndexOn, readOn } from "../store/examine.ts";
import { isDamage } from "../store/failure.ts";
import { holdingsOf } from "../store/health.ts";
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
  /** What is wrong with pages of the file, a line for each, whatever stands on them. */
  readonly pages: readonly string[];
}

/** Pages are looked at in one step: no more than this is where somebody waits for the answer. */
const BYTES_IN_PASSING = 64e6;

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
  const isSmall = () => holdingsOf(store).bytes <= BYTES_IN_PASSING;
  const pages = await patiently(() =>
    withinMs === Infinity || isSmall() ? store.read(wrongPages) : [],
  ).catch(orUnreadable);
  let read = 0;
  for (let from: number | null = 0; from !== null; ) {
    if (isOver())
      return { read, broken, lost, pages: pages ?? [], isAll: false, isIndexDamaged: false };
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
  const isIndexDamaged = index === "damaged";
  const isAll = index !== "over";
  // What stands on pages that cannot be read is told by its name, as far as it has one.
  const unnamed = lost.length > 0 || isIndexDamaged ? [] : ["they cannot be read"];
  return { read, broken, lost, pages: pages ?? unnamed, isAll, isIndexDamaged };
}

function orUnreadable(error: unknown): undefined {
  if (!isDamage(error)) throw error;
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
export function damageOf({ broken, lost, pages, isIndexDamaged }: Examined): string[] {
  const unread = [...broken, ...lost].sort((a, b) => a - b);
  return [
    ...(unread.length > 0 ? [cannotRead(unread)] : []),
    ...(isIndexDamaged ? ["the search index is damaged"] : []),
    ...(pages.length > 0 ? [wrongPagesOf(pages)] : []),
  ];
}

/** Lines about pages that are told. */
const MOST_LINES = 3;

export const wrongPagesOf = (pages: readonly string[]): string =>
  `${counted(pages.length, "thing")} ${pages.length === 1 ? "is" : "are"} wrong with the pages of the file: ${pages.slice(0, MOST_LINES).join("; ")}${pages.length > MOST_LINES ? "; …" : ""}`;

export const cannotRead = (numbers: readonly number[]): string =>
  `${counted(numbers.length, "message")} cannot be read: ${numbers.slice(0, MOST_TOLD).join(", ")}${numbers.length > MOST_TOLD ? ", …" : ""}`;
