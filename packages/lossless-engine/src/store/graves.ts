// Tells one database what was forgotten in another, by salts and hashes.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { isNameless } from "../messages/name.ts";
import { carrying } from "./forgetting.ts";
import { messageOf, type StoredMessage, timeOf } from "./rows.ts";
import type { Sql } from "./sql.ts";
import { hashOf, inHex, saltIn, saltOf } from "./tombstones.ts";

/** What was forgotten in a database. */
export interface Graves {
  /** What the hashes are made with; every copy of the database has it. */
  readonly salt: Uint8Array;
  /** In hexadecimal. */
  readonly hashes: ReadonlySet<string>;
  /**
   * Their rows, by which copies of the database know those that said something else until they were
   * told whole. Absent: only the hashes are known.
   */
  readonly rows?: ReadonlySet<string> | undefined;
}

/**
 * The first are its own; those of an older version that knows none are none. Without what is no
 * longer kept: that may come back, and goes again.
 */
export function gravesIn(sql: Sql): Graves[] {
  const hexOf = (rows: readonly Record<string, unknown>[]) =>
    new Set(rows.map(({ hash }) => inHex(hash as Uint8Array)));
  if (!hasTable(sql, "forgotten")) return [];
  const own = sql(`
    SELECT hash, message.* FROM forgotten LEFT JOIN message ON seq = message WHERE expired = 0
  `).all();
  const salts = hasTable(sql, "carried")
    ? (sql("SELECT DISTINCT salt FROM carried").all() as { salt: Uint8Array }[])
    : [];
  const rows = own.flatMap((row) => (row.seq === null ? [] : rowKeys(messageOf(sql, row))));
  return [
    { salt: saltOf(sql), hashes: hexOf(own), rows: new Set(rows) },
    ...salts.map(({ salt }) => ({
      salt,
      hashes: hexOf(sql("SELECT hash FROM carried WHERE salt = ?").all(salt)),
    })),
  ];
}

/** Graves of messages that are about to go. */
export function gravesOf(sql: Sql, messages: readonly StoredMessage[]): Graves {
  const salt = saltOf(sql);
  const known = sql("SELECT hash FROM forgotten WHERE message = ?");
  const hashes = messages.map(({ seq, message }) =>
    inHex((known.get(seq)?.hash as Uint8Array | undefined) ?? hashOf(salt, message)),
  );
  return { salt, hashes: new Set(hashes), rows: new Set(messages.flatMap(rowKeys)) };
}

/** Graves of messages that other files tell. */
export function gravesFor(sql: Sql, messages: readonly AgentMessage[]): Graves {
  const salt = saltOf(sql);
  return { salt, hashes: new Set(messages.map((message) => inHex(hashOf(salt, message)))) };
}

/** Of a message whose host names it: it has one name and one number in all copies. */
const rowKeys = ({ seq, conversation, name, message }: StoredMessage): string[] =>
  isNameless(name)
    ? []
    : [JSON.stringify([seq, conversation, name, message.role, timeOf(message)])];

/** True: nothing lies in any of them. */
export const areEmpty = (graves: readonly Graves[]): boolean =>
  graves.every(({ hashes }) => hashes.size === 0);

/** True for a message of any database that lies in one of them. */
export const liesIn = (graves: readonly Graves[]): ((message: AgentMessage) => boolean) => {
  const open = graves.filter(({ hashes }) => hashes.size > 0);
  return (message) => open.some(({ salt, hashes }) => hashes.has(inHex(hashOf(salt, message))));
};

/** Tells whether a message of this database lies in one of them. */
export function lyingIn(sql: Sql, graves: readonly Graves[]): (stored: StoredMessage) => boolean {
  const open = graves.filter(({ hashes }) => hashes.size > 0);
  const own = hasSalt(sql) ? inHex(saltOf(sql)) : null;
  const rows = new Set(
    open.flatMap(({ salt, rows: known = [] }) => (inHex(salt) === own ? [...known] : [])),
  );
  const lies = liesIn(open);
  return (stored) => rowKeys(stored).some((key) => rows.has(key)) || lies(stored.message);
}

/** What the database no longer keeps of it: numbers of messages. */
export function expiredIn(sql: Sql, graves: readonly Graves[]): number[] {
  if (!hasTable(sql, "forgotten")) return [];
  const own = hasSalt(sql) ? inHex(saltOf(sql)) : null;
  const hashes = new Set(
    graves.flatMap((each) => (inHex(each.salt) === own ? [...each.hashes] : [])),
  );
  if (hashes.size === 0) return [];
  return sql("SELECT message, hash FROM forgotten WHERE expired = 1 ORDER BY message")
    .all()
    .filter(({ hash }) => hashes.has(inHex(hash as Uint8Array)))
    .map(({ message }) => Number(message));
}

/** False: it is of a version that forgot nothing, or its salt is gone. */
export const hasSalt = (sql: Sql): boolean =>
  hasTable(sql, "forgetting") && saltIn(sql) !== undefined;

/** From now on what lies there is known when it is told, whether or not it was here. */
export function carry(sql: Sql, graves: readonly Graves[]): void {
  const own = inHex(saltOf(sql));
  const known = sql("SELECT 1 FROM forgotten WHERE hash = ? AND expired = 0");
  const insert = sql("INSERT INTO carried (salt, hash) VALUES (?, ?) ON CONFLICT DO NOTHING");
  carrying(sql, () => {
    for (const { salt, hashes } of graves)
      for (const hex of hashes) {
        const hash = Buffer.from(hex, "hex");
        if (inHex(salt) !== own || known.get(hash) === undefined) insert.run(salt, hash);
      }
  });
}

export const hasTable = (sql: Sql, name: string): boolean =>
  sql("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;
