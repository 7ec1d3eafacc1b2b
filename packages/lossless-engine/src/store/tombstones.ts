// Knows again what was forgotten, by salted hashes.
import { createHmac, hash } from "node:crypto";
import { type AgentMessage, type AssistantMessage, messageId } from "@clew/plugin-sdk/core";
import { blocksOf } from "@clew/plugin-sdk/transcript";
import type { Absence } from "../messages/placeholder.ts";
import { storageError } from "./failure.ts";
import type { BoundPayload } from "./payloads.ts";
import { timeOf } from "./rows.ts";
import type { Sql } from "./sql.ts";

/** Of something that was forgotten. */
export interface Tombstone {
  readonly hash: Uint8Array;
  readonly absence: Absence;
}

/** How many messages of a database are not there any more. */
export interface AbsentCounts {
  readonly forgotten: number;
  /** By age or size. */
  readonly expired: number;
}

/** Of a database that lost its own, which an audit names. */
const NO_SALT = new Uint8Array();

/** How names of messages begin that had no id, once they are forgotten. */
const PREFIX = "forgotten:";

/** Its name where its host gave it no id: such names are made of what was said. */
export const nameOfForgotten = ({ hash }: Tombstone): string => `${PREFIX}${inHex(hash)}`;

export const isNameOfForgotten = (name: string): boolean => name.startsWith(PREFIX);

/** Looks for messages among those that were forgotten. Undefined: nothing was, so far. */
export function tombstones(
  sql: Sql,
): ((message: AgentMessage) => Tombstone | undefined) | undefined {
  const salts = sql("SELECT DISTINCT salt FROM carried").all() as { salt: Uint8Array }[];
  const isEmpty = sql("SELECT 1 FROM forgotten LIMIT 1").get() === undefined;
  if (isEmpty && salts.length === 0) return undefined;
  const own = saltOf(sql);
  const carried = salts.map(({ salt }) => ({ salt, isOwn: inHex(salt) === inHex(own) }));
  const find = sql("SELECT expired FROM forgotten WHERE hash = ? ORDER BY expired LIMIT 1");
  const findCarried = sql("SELECT 1 FROM carried WHERE salt = ? AND hash = ?");
  return (message) => {
    const hash = hashOf(own, message);
    const found = find.get(hash);
    if (found !== undefined && Number(found.expired) === 0) return { hash, absence: "forgotten" };
    const isCarried = carried.some((each) =>
      findCarried.get(each.salt, each.isOwn ? hash : hashOf(each.salt, message)),
    );
    if (isCarried) return { hash, absence: "forgotten" };
    return found && { hash, absence: "expired" };
  };
}

export const inHex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

/** Of a message that is about to go. */
export const tombstoneFor = (sql: Sql, message: AgentMessage, absence: Absence): Tombstone => ({
  hash: hashOf(saltOf(sql), message),
  absence,
});

/** From now on the row of this number is a placeholder. */
export function raise(sql: Sql, seq: number, { hash, absence }: Tombstone): void {
  sql("INSERT OR REPLACE INTO forgotten (message, hash, expired) VALUES (?, ?, ?)").run(
    ...[seq, hash, absence === "expired" ? 1 : 0],
  );
}

/** What a link binds of it, besides the row. */
export function boundTombstone(sql: Sql, seq: number): BoundPayload[] {
  const row = sql("SELECT hash, expired FROM forgotten WHERE message = ?").get(seq);
  if (row === undefined) return [];
  const bytes = Buffer.concat([saltIn(sql) ?? NO_SALT, row.hash as Uint8Array]);
  return [{ place: `forgotten ${row.expired}`, hash: hash("sha256", bytes, "buffer") }];
}

export function absentCounts(sql: Sql): AbsentCounts {
  const row = sql("SELECT count(*) AS absent, total(expired) AS expired FROM forgotten").get()!;
  return {
    forgotten: Number(row.absent) - Number(row.expired),
    expired: Number(row.expired),
  };
}

/** How many messages of these conversations are not there any more. Null: of all. */
export function absentIn(sql: Sql, scope: readonly number[] | null): number {
  const { forgotten, expired } = absentCounts(sql);
  if (scope === null || forgotten + expired === 0) return forgotten + expired;
  const row = sql(`
    SELECT count(*) AS absent FROM forgotten JOIN message ON seq = forgotten.message
    WHERE conversation IN (SELECT value FROM json_each(?))
  `).get(JSON.stringify(scope));
  return Number(row?.absent);
}

/** Undefined: it is gone. */
export function saltIn(sql: Sql): Uint8Array | undefined {
  const salt = sql("SELECT salt FROM forgetting").get()?.salt;
  return salt instanceof Uint8Array ? salt : undefined;
}

/** As long as the database, and in every copy of it. */
export function saltOf(sql: Sql): Uint8Array {
  const salt = saltIn(sql);
  if (salt !== undefined) return salt;
  throw storageError(
    "The lossless engine cannot know again what was forgotten, as the salt of its database is gone; restore a backup of it (clew lossless backups).",
  );
}

/**
 * Of role, time and what was said: the same in every copy of the message, whatever id it has there.
 * Of one without a time it is of its id as well: many say the same words.
 */
export function hashOf(salt: Uint8Array, message: AgentMessage): Uint8Array {
  const time = timeOf(message);
  const id = time === null ? messageId(message) : undefined;
  const said = JSON.stringify([
    ...[message.role, time, essenceOf(message)],
    ...(id === undefined ? [] : [id]),
  ]);
  return createHmac("sha256", salt).update(said.toWellFormed()).digest();
}

/** What hosts add to a message, or leave out of it, is not what was said. */
function essenceOf(message: AgentMessage): unknown {
  if (!("content" in message)) {
    const { __openclaw: _host, idempotencyKey: _key, ...rest } = message;
    return rest;
  }
  const said = saidIn(message);
  // What has nothing else to be known by.
  return said.length > 0 ? said : [message.content, (message as AssistantMessage).errorMessage];
}

function saidIn({ content }: Extract<AgentMessage, { content: unknown }>): unknown[] {
  if (typeof content === "string") return [content];
  return blocksOf(content).flatMap((block): unknown[] => {
    switch (block.type) {
      case "text":
        return [block.text];
      case "toolCall":
        return [[block.name, block.arguments]];
      case "image":
        return [block.data];
      default:
        return [];
    }
  });
}
