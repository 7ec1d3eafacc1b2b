// Finds what goes when a database is too large, and says how large it is.
import { looseBytesOf } from "./forgetting.ts";
import { FLAGS } from "./rows.ts";
import type { Sql } from "./sql.ts";
import type { Store } from "./store.ts";

/** Which of the oldest. */
export interface Oldest {
  readonly limit: number;
  /** So many of the newest messages are none. */
  readonly newest: number;
}

/** Shorter ones give no room back: what stands in their place takes as much. */
const LONG_BYTES = 512;

/** Up to where nothing is to be found, as far as this process looked; by database. */
const lookedUpTo = new WeakMap<Store, number>();

/** Numbers of those that give room back when they go, in the order in which they came. */
export const oldestLong = (store: Store, { limit, newest }: Oldest): number[] =>
  store.read((sql) => {
    const last = sql("SELECT seq FROM message ORDER BY seq DESC LIMIT 1 OFFSET ?").get(newest);
    if (last === undefined) return [];
    const numbers = sql(`
      SELECT seq FROM message
      WHERE seq > ? AND seq <= ? AND flags & ${FLAGS.forgotten} = 0 AND (length(body) >= ${LONG_BYTES}
        OR EXISTS (SELECT 1 FROM payload_use WHERE payload_use.message = seq))
      ORDER BY seq LIMIT ?
    `)
      .all(lookedUpTo.get(store) ?? 0, Number(last.seq), limit)
      .map(({ seq }) => Number(seq));
    lookedUpTo.set(store, Number(numbers[0] ?? last.seq) - 1);
    return numbers;
  });

/** What a database takes. */
export interface Use {
  /** Bytes of pages that hold something. */
  readonly bytes: number;
  /** Of those, bytes that messages left when they went, up to the next time all is written anew. */
  readonly looseBytes: number;
}

export const useOf = (store: Store): Use =>
  store.read((sql) => {
    const bytes =
      (pragma(sql, "page_count") - pragma(sql, "freelist_count")) * pragma(sql, "page_size");
    return { bytes, looseBytes: looseBytesOf(sql) };
  });

/** Bytes of a body that stand in a page with others: a long one has pages of its own. */
export function bytesAmongOthers(sql: Sql, body: number): number {
  const most = pragma(sql, "page_size") - 35;
  const least = Math.floor(((most + 23) * 32) / 255) - 23;
  if (body <= most) return body;
  const rest = least + ((body - least) % (most + 31));
  return rest <= most ? rest : least;
}

const pragma = (sql: Sql, name: string) => Number(Object.values(sql(`PRAGMA ${name}`).get()!)[0]);
