// Finds the oldest messages of a database that are still kept whole.
import { FLAGS } from "./rows.ts";
import type { Store } from "./store.ts";

/** A message that may be too old. */
export interface OldMessage {
  readonly seq: number;
  /** ms since the epoch; null = not known. */
  readonly time: number | null;
}

/** Up to where nothing is kept, as far as this process looked; by database. */
const expiredUpTo = new WeakMap<Store, number>();

/** In the order in which they came, without the newest `newest`. */
export const oldestKept = (
  store: Store,
  { limit, newest }: { limit: number; newest: number },
): OldMessage[] =>
  store.read((sql) => {
    const last = sql("SELECT seq FROM message ORDER BY seq DESC LIMIT 1 OFFSET ?").get(newest);
    if (last === undefined) return [];
    const rows = sql(`
      SELECT seq, time FROM message WHERE seq > ? AND seq <= ? AND flags & ${FLAGS.forgotten} = 0
      ORDER BY seq LIMIT ?
    `).all(expiredUpTo.get(store) ?? 0, Number(last.seq), limit);
    const first = rows[0]?.seq ?? last.seq;
    expiredUpTo.set(store, Number(first) - 1);
    return rows.map(({ seq, time }) => ({
      seq: Number(seq),
      time: time === null ? null : Number(time),
    }));
  });

/** What pages in use take. */
export const bytesInUse = (store: Store): number =>
  store.read((sql) => {
    const pragma = (name: string) => Number(Object.values(sql(`PRAGMA ${name}`).get()!)[0]);
    return (pragma("page_count") - pragma("freelist_count")) * pragma("page_size");
  });
