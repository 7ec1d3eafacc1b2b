// Tells one database what was forgotten in another, by salts and hashes.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { carrying } from "./forgetting.ts";
import type { Sql } from "./sql.ts";
import { hashOf, inHex, saltOf } from "./tombstones.ts";

/** What was forgotten in a database. */
export interface Graves {
  /** What the hashes are made with; every copy of the database has it. */
  readonly salt: Uint8Array;
  /** In hexadecimal. */
  readonly hashes: ReadonlySet<string>;
}

/**
 * The first are its own; those of an older version that knows none are none. Without what is no
 * longer kept: that may come back, and goes again.
 */
export function gravesIn(sql: Sql): Graves[] {
  const hexOf = (rows: readonly Record<string, unknown>[]) =>
    new Set(rows.map(({ hash }) => inHex(hash as Uint8Array)));
  if (!hasTable(sql, "forgotten")) return [];
  const own = sql("SELECT hash FROM forgotten WHERE expired = 0").all();
  const salts = hasTable(sql, "carried")
    ? (sql("SELECT DISTINCT salt FROM carried").all() as { salt: Uint8Array }[])
    : [];
  return [
    { salt: saltOf(sql), hashes: hexOf(own) },
    ...salts.map(({ salt }) => ({
      salt,
      hashes: hexOf(sql("SELECT hash FROM carried WHERE salt = ?").all(salt)),
    })),
  ];
}

/** Graves of messages that are about to go, by their numbers. */
export function gravesOf(sql: Sql, messages: readonly { seq: number; message: AgentMessage }[]) {
  const salt = saltOf(sql);
  const known = sql("SELECT hash FROM forgotten WHERE message = ?");
  const hashes = messages.map(({ seq, message }) =>
    inHex((known.get(seq)?.hash as Uint8Array | undefined) ?? hashOf(salt, message)),
  );
  return { salt, hashes: new Set(hashes) } satisfies Graves;
}

/** True: nothing lies in any of them. */
export const areEmpty = (graves: readonly Graves[]): boolean =>
  graves.every(({ hashes }) => hashes.size === 0);

/** True for a message that lies in one of them. */
export const liesIn = (graves: readonly Graves[]): ((message: AgentMessage) => boolean) => {
  const open = graves.filter(({ hashes }) => hashes.size > 0);
  return (message) => open.some(({ salt, hashes }) => hashes.has(inHex(hashOf(salt, message))));
};

/** From now on what lies there is known when it is told, whether or not it was here. */
export function carry(sql: Sql, graves: readonly Graves[]): void {
  const own = inHex(saltOf(sql));
  const known = sql("SELECT 1 FROM forgotten WHERE hash = ?");
  const insert = sql("INSERT INTO carried (salt, hash) VALUES (?, ?) ON CONFLICT DO NOTHING");
  carrying(sql, () => {
    for (const { salt, hashes } of graves)
      for (const hex of hashes) {
        const hash = Buffer.from(hex, "hex");
        if (inHex(salt) !== own || known.get(hash) === undefined) insert.run(salt, hash);
      }
  });
}

const hasTable = (sql: Sql, name: string) =>
  sql("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;
