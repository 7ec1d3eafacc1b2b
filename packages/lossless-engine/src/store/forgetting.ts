// Keeps what a database notes of forgetting, bound by seals.
import { createHash } from "node:crypto";
import { isSame } from "./chain.ts";
import { sealing } from "./seals.ts";
import type { Sql } from "./sql.ts";

const THE_ROW = { table: "forgetting", where: "only = 1", values: [] } as const;

/** True: pages that nothing uses may hold words that were forgotten or let go. */
export const isMarkedStale = (sql: Sql): boolean => staleOf(sql) > 0;

/** Bytes that messages left in pages in use when they went, since all was written anew. */
export const looseBytesOf = (sql: Sql): number => Math.max(0, staleOf(sql) - 1);

const staleOf = (sql: Sql) => Number(sql("SELECT stale FROM forgetting").get()?.stale ?? 0);

/** `looseBytes`: how many more there are, see above. */
export function markStale(sql: Sql, isStale: boolean, looseBytes = 0): void {
  const known = staleOf(sql);
  const stale = isStale ? Math.max(1, known) + Math.max(0, Math.round(looseBytes)) : 0;
  if (stale !== known)
    sealing(sql, THE_ROW, () => sql("UPDATE forgetting SET stale = ?").run(stale));
}

/** Adds hashes of other databases. What was changed before stays found by an audit. */
export function carrying(sql: Sql, add: () => void): void {
  const isBound = isCarriedBound(sql);
  add();
  if (isBound) bindCarried(sql);
}

/** From now on these are the hashes that were carried. */
export function bindCarried(sql: Sql): void {
  sealing(sql, THE_ROW, () => sql("UPDATE forgetting SET carried = ?").run(carriedHash(sql)));
}

/** True: none of them is gone, added or changed. */
export const isCarriedBound = (sql: Sql): boolean =>
  isSame(sql("SELECT carried FROM forgetting").get()?.carried, carriedHash(sql));

/** SHA-256 of all of them; there are as many as other databases forgot. */
function carriedHash(sql: Sql): Uint8Array {
  const sum = createHash("sha256");
  for (const { salt, hash } of sql("SELECT salt, hash FROM carried ORDER BY salt, hash").iterate())
    for (const bytes of [salt as Uint8Array, hash as Uint8Array])
      sum.update(`${bytes.length} `).update(bytes);
  return sum.digest();
}
