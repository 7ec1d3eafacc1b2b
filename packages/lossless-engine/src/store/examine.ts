// Reads all of a database, a piece at a time, and goes on past what is damaged.
import { isDamage } from "./failure.ts";
import { markRow } from "./mark-damaged.ts";
import { messageOf } from "./rows.ts";
import type { Store } from "./store.ts";

/** Up to where messages were read, and what was found. */
export interface Reading {
  /** Number of the last message that was read; null = there are no more. */
  readonly upTo: number | null;
  readonly read: number;
  /** Numbers of those whose rows do not come back as messages. */
  readonly broken: readonly number[];
  /** Numbers of those on pages that SQLite cannot read. */
  readonly lost: readonly number[];
}

const ROWS_AT_ONCE = 16;

/** Reads messages behind number `from` until `isOver` says so, at least a few. */
export function readOn(store: Store, from: number, isOver: () => boolean): Reading {
  const newest = newestOf(store);
  const [broken, lost]: [number[], number[]] = [[], []];
  let [upTo, read] = [from, 0];
  while (upTo < newest) {
    const to = Math.min(newest, upTo + ROWS_AT_ONCE);
    for (const { seq, state } of statesOf(store, upTo + 1, to)) {
      read++;
      if (state === "broken") broken.push(seq);
      if (state === "lost") lost.push(seq);
    }
    upTo = to;
    if (isOver()) break;
  }
  return { upTo: upTo < newest ? upTo : null, read, broken, lost };
}

/** Where a page is damaged, another way leads to the number. */
function newestOf(store: Store): number {
  const newest = (from: string) =>
    store.read((sql) =>
      Number(sql(`SELECT max(seq) AS newest FROM message ${from}`).get()?.newest),
    );
  return pastDamage(() => newest("")) ?? newest("INDEXED BY message_conversation");
}

interface State {
  readonly seq: number;
  readonly state: "whole" | "broken" | "lost";
}

/** Together; where that meets a damaged page, each for itself. */
function statesOf(store: Store, from: number, to: number): readonly State[] {
  const among = (first: number, last: number) =>
    pastDamage(() =>
      store.read((sql) =>
        sql("SELECT * FROM message WHERE seq BETWEEN ? AND ? ORDER BY seq")
          .all(first, last)
          .map(
            (row): State => ({
              seq: Number(row.seq),
              state: messageOf(sql, row).isDamaged ? "broken" : "whole",
            }),
          ),
      ),
    );
  return (
    among(from, to) ??
    Array.from({ length: to - from + 1 }, (_, at) => from + at).flatMap(
      (seq) => among(seq, seq) ?? [{ seq, state: "lost" as const }],
    )
  );
}

/** Tables of the search indexes; the words are in tables of SQLite's. */
export const INDEX_TABLES: readonly string[] = [
  ...["trigram_leaf", "trigram_bucket"],
  ...["words_data", "words_docsize"],
];
const KEYS_OF: Readonly<Record<string, string>> = { trigram_leaf: "first" };
const INDEX_ROWS_AT_ONCE = 32;

/**
 * Reads rows of a table of the indexes behind key `from`, a text, until `isOver` says so. Null: all
 * were read; undefined: it is damaged.
 */
export function readIndexOn(
  store: Store,
  { table, from, isOver }: { table: string; from: string; isOver: () => boolean },
): string | null | undefined {
  const key = KEYS_OF[table] ?? "id";
  return pastDamage(() =>
    store.read((sql) => {
      for (let upTo = from; ; ) {
        const rows = sql(`
          SELECT *, CAST(${key} AS TEXT) AS place FROM ${table}
          WHERE ${key} > CAST(? AS INTEGER) ORDER BY ${key} LIMIT ?
        `);
        rows.setReadBigInts(true);
        const found = rows.all(upTo, INDEX_ROWS_AT_ONCE);
        if (found.length < INDEX_ROWS_AT_ONCE) return null;
        upTo = String(found.at(-1)!.place);
        if (isOver()) return upTo;
      }
    }),
  );
}

/**
 * Whoever tells of these messages once more gives them back; the files that told of them are read
 * again from their beginning.
 */
export const markDamaged = (store: Store, numbers: readonly number[]): void =>
  store.change((sql) => {
    for (const seq of numbers) markRow(sql, seq);
  });

/** Undefined: what `work` reads is damaged. */
function pastDamage<Answer>(work: () => Answer): Answer | undefined {
  try {
    return work();
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}
