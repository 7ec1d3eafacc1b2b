// Finds long texts by what they are, and the messages that hold them.
import { createHash } from "node:crypto";
import { textKept } from "./kept-text.ts";
import type { Scope } from "./recall.ts";
import type { Sql, Store } from "./store.ts";

/** A text that is stored once, however many messages hold it. */
export interface StoredFile {
  /** See `fileIdOf`. */
  readonly id: string;
  readonly text: string;
}

/** Of a file's hash, so many hexadecimal digits. */
const DIGITS = 16;

/** The same for the same text, wherever it stands. */
export const fileIdOf = (text: string): string => named(createHash("sha256").update(text).digest());

const named = (hash: Uint8Array) => `file_${Buffer.from(hash).toString("hex").slice(0, DIGITS)}`;

/** The files that a message holds. */
export const filesIn = (store: Store, message: number): StoredFile[] =>
  store.read((sql) =>
    sql(`
      SELECT DISTINCT hash, text FROM payload_use JOIN payload ON payload.id = payload_use.payload
      WHERE payload_use.message = ?
    `)
      .all(message)
      .map(({ hash, text }) => ({ id: named(hash as Uint8Array), text: textKept(text) })),
  );

/** True: the message of this number holds the file. */
export const isFileIn = (store: Store, message: number, id: string): boolean =>
  store.read((sql) => {
    const digits = digitsOf(id);
    if (digits === undefined) return false;
    const row = sql(`
      SELECT 1 FROM payload_use JOIN payload ON payload.id = payload_use.payload
      WHERE payload_use.message = ? AND payload.hash BETWEEN ? AND ?
    `).get(message, bytesOf(digits, "0"), bytesOf(digits, "f"));
    return row !== undefined;
  });

/** The file of this id, where a message within the scope holds it. */
export const fileOf = (store: Store, scope: Scope, id: string): StoredFile | undefined =>
  store.read((sql) => {
    const row = payloadOf(sql, id);
    if (row === undefined || holdersIn(sql, scope, row.id).length === 0) return undefined;
    return { id: named(row.hash), text: textKept(row.text) };
  });

/** Numbers of the messages that hold the file, oldest first. */
export const messagesWithFile = (store: Store, scope: Scope, id: string): number[] =>
  store.read((sql) => {
    const row = payloadOf(sql, id);
    return row === undefined ? [] : holdersIn(sql, scope, row.id);
  });

function payloadOf(sql: Sql, id: string) {
  const digits = digitsOf(id);
  if (digits === undefined) return undefined;
  const row = sql(
    "SELECT id, hash, text FROM payload WHERE hash BETWEEN ? AND ? ORDER BY hash LIMIT 1",
  ).get(bytesOf(digits, "0"), bytesOf(digits, "f"));
  return row && { id: Number(row.id), hash: row.hash as Uint8Array, text: row.text };
}

const digitsOf = (id: string) => /^file_([0-9a-f]{8,64})$/.exec(id)?.[1];

/** All hashes that begin with these digits lie between the two ways to fill them up. */
const bytesOf = (digits: string, rest: string) => Buffer.from(digits.padEnd(64, rest), "hex");

const holdersIn = (sql: Sql, scope: Scope, payload: number): number[] =>
  sql(`
    SELECT DISTINCT message.seq FROM payload_use JOIN message ON message.seq = payload_use.message
    WHERE payload_use.payload = ?
      AND (? IS NULL OR message.conversation IN (SELECT value FROM json_each(?)))
    ORDER BY message.seq
  `)
    .all(payload, ...twice(scope === null ? null : JSON.stringify(scope)))
    .map(({ seq }) => Number(seq));

const twice = <Value>(value: Value): [Value, Value] => [value, value];
