// Gives new rows their numbers, above those that may be another machine's.
import type { Sql } from "./sql.ts";

/** What has numbers that models are told. */
export type Numbered = "message" | "summary" | "conversation";

/** Of databases whose sessions move between machines; all others have none. */
const floors = new WeakMap<Sql, Map<Numbered, number>>();

/** The next number is above this one. */
export function raiseFloor(sql: Sql, kind: Numbered, floor: number): void {
  const known = floors.get(sql) ?? new Map<Numbered, number>();
  floors.set(sql, known.set(kind, Math.max(known.get(kind) ?? 0, floor)));
}

/** The number for the next one: no other's. */
export const nextNumber = (sql: Sql, kind: Numbered): number => lastNumber(sql, kind) + 1;

const LAST: Readonly<Record<Numbered, string>> = {
  message: `
    SELECT max(coalesce((SELECT max(seq) FROM message), 0),
      coalesce((SELECT max(message) FROM link), 0)) AS last
  `,
  summary: "SELECT coalesce(max(id), 0) AS last FROM summary",
  conversation: "SELECT coalesce(max(id), 0) AS last FROM conversation",
};

/** Of those that are gone, too, as far as links tell of them. */
export function lastNumber(sql: Sql, kind: Numbered): number {
  const last = Number(sql(LAST[kind]).get()?.last);
  return Math.max(last, floors.get(sql)?.get(kind) ?? 0);
}
