// Reads all of a database, a piece at a time, and goes on past what is damaged.
import { isDamage } from "./failure.ts";
import { markRow } from "./mark-damaged.ts";
import { messageOf } from "./rows.ts";
import { circling } from "./seek.ts";
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
  const [broken, lost]: [number[], number[]] = [[], []];
  let [upTo, read] = [from, 0];
  for (;;) {
    const states = statesBehind(store, upTo);
    for (const { seq, state } of states) {
      read++;
      if (state === "broken") broken.push(seq);
      if (state === "lost") lost.push(seq);
    }
    const last = states.at(-1)?.seq;
    if (last === undefined) return { upTo: null, read, broken, lost };
    upTo = last;
    if (isOver()) return { upTo, read, broken, lost };
  }
}

interface State {
  readonly seq: number;
  readonly state: "whole" | "broken" | "lost";
}

/** Together; where that meets a damaged page, those that have a link, each for itself. */
function statesBehind(store: Store, from: number): readonly State[] {
  const statesOf = (where: string, values: readonly number[]) =>
    pastDamage(() =>
      store.read((sql) =>
        sql(`SELECT * FROM message WHERE ${where} ORDER BY seq LIMIT ${ROWS_AT_ONCE}`)
          .all(...values)
          .map(
            (row): State => ({
              seq: Number(row.seq),
              state: messageOf(sql, row).isDamaged ? "broken" : "whole",
            }),
          ),
      ),
    );
  const states = statesOf("seq > ?", [from]);
  if (states !== undefined && isRising([from, ...states.map(({ seq }) => seq)])) return states;
  return linkedBehind(store, from).map(
    (seq) => statesOf("seq = ?", [seq])?.[0] ?? { seq, state: "lost" },
  );
}

function linkedBehind(store: Store, from: number): readonly number[] {
  const numbers = pastDamage(() =>
    store.read((sql) =>
      sql("SELECT message FROM link WHERE message > ? ORDER BY message LIMIT ?")
        .all(from, ROWS_AT_ONCE)
        .map(({ message }) => Number(message)),
    ),
  );
  if (numbers !== undefined && isRising([from, ...numbers])) return numbers;
  throw circling();
}

/** Where pages were exchanged rows come again, for ever. */
const isRising = (numbers: readonly number[]): boolean =>
  numbers.every((number, at) => at === 0 || number > numbers[at - 1]!);

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
        const last = String(found.at(-1)!.place);
        if (BigInt(last) <= BigInt(upTo)) return undefined;
        upTo = last;
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
