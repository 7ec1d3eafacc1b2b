// Binds each stored message to what was stored before it in its conversation, by hashes.
import { hash } from "node:crypto";
import { nextNumber } from "./numbers.ts";
import type { BoundPayload } from "./payloads.ts";
import { FLAGS } from "./rows.ts";
import type { Sql } from "./sql.ts";
import { boundTombstone } from "./tombstones.ts";

/** What a link binds: a message's row, and the texts that stand apart from it. */
export interface BoundRow {
  readonly seq: number;
  readonly conversation: number;
  readonly id: string;
  readonly turn: number;
  readonly role: string;
  readonly time: number | null;
  readonly flags: number;
  /** As it is kept. */
  readonly body: string | Uint8Array;
  /** By their places. */
  readonly payloads: readonly BoundPayload[];
}

/** Of SHA-256: as many bits as nobody finds again by chance or by trying. */
export const LINK_BYTES = 20;

/** Of what a chain begins with. */
export const NO_LINK: Uint8Array = new Uint8Array(LINK_BYTES);

/** Pure: SHA-256 of all that the row says. */
export function digestOf(row: BoundRow): Uint8Array {
  const { seq, conversation, id, turn, role, time, flags, body, payloads } = row;
  const apart = payloads
    .map(({ place, hash }) => `${place} ${hexOf(hash)}`)
    .sort()
    .join("\n");
  // A database keeps no half of a surrogate pair.
  const fields = JSON.stringify([seq, conversation, id, turn, role.toWellFormed(), time, flags]);
  const head = `${fields}\n${apart}\n${typeof body}\n`;
  return typeof body === "string"
    ? hash("sha256", head + body, "buffer")
    : hash("sha256", Buffer.concat([Buffer.from(head), body]), "buffer");
}

/** Pure: SHA-256 of the link before it and of what it binds. */
export const linkOf = (before: Uint8Array, digest: Uint8Array): Uint8Array =>
  hash("sha256", Buffer.concat([before, digest]), "buffer").subarray(0, LINK_BYTES);

/** Who writes messages of a conversation, one after the other, and closes with its newest link. */
export interface ChainWriter {
  /** The number for the next message: no other's, also of those that are gone. */
  next(): number;
  add(row: BoundRow): void;
  /** The newest link, of every message that is stored. */
  head(): Uint8Array;
}

export function chainWriter(sql: Sql, conversation: number): ChainWriter {
  let head = headOf(sql, conversation, "newest");
  const insert = sql("INSERT INTO link (message, conversation, hash) VALUES (?, ?, ?)");
  let next = nextNumber(sql, "message");
  return {
    next: () => next,
    add(row) {
      next = row.seq + 1;
      head = linkOf(head, digestOf(row));
      insert.run(row.seq, conversation, head);
    },
    head: () => head,
  };
}

/**
 * Changes a stored message legitimately: marks or renames it. Its first link stays in the chain;
 * what it says now is bound by the chain of changes. A row that its link did not bind before is
 * bound by none afterwards, so that the audit goes on to find it.
 */
export function changing(sql: Sql, seq: number, change: () => void): void {
  const was = boundDigest(sql, seq);
  change();
  if (was !== undefined) noteChange(sql, seq, was);
}

/** Writes a message whole once more, as its host tells it: whatever it said before, it is bound. */
export function rewriting(sql: Sql, seq: number, write: () => void): void {
  const was = boundDigest(sql, seq);
  write();
  noteChange(sql, seq, was ?? null);
}

function noteChange(sql: Sql, seq: number, was: Uint8Array | null): void {
  const row = sql("SELECT * FROM message WHERE seq = ?").get(seq)!;
  const conversation = Number(row.conversation);
  const head = headOf(sql, conversation, "changed");
  const changed = linkOf(head, digestOf(boundRow(sql, row)));
  const earlier = sql("SELECT coalesce(max(id), 0) AS id FROM change WHERE message = ?").get(seq);
  sql("INSERT INTO change (message, earlier, conversation, was, hash) VALUES (?, ?, ?, ?, ?)").run(
    ...[seq, Number(earlier?.id), conversation, was, changed],
  );
  sql("UPDATE conversation SET changed = ? WHERE id = ?").run(changed, conversation);
}

/** What the row says; undefined where that is not what its newest link says. */
function boundDigest(sql: Sql, seq: number): Uint8Array | undefined {
  const row = sql("SELECT * FROM message WHERE seq = ?").get(seq)!;
  const conversation = Number(row.conversation);
  const change = sql("SELECT * FROM change WHERE message = ? ORDER BY id DESC LIMIT 1").get(seq);
  const link = change ?? sql("SELECT * FROM link WHERE message = ?").get(seq);
  const before =
    change === undefined
      ? sql(
          "SELECT hash FROM link WHERE conversation = ? AND message < ? ORDER BY message DESC LIMIT 1",
        ).get(conversation, seq)
      : sql(
          "SELECT hash FROM change WHERE conversation = ? AND id < ? ORDER BY id DESC LIMIT 1",
        ).get(conversation, Number(change.id));
  const digest = digestOf(boundRow(sql, row));
  return isSame(link?.hash, linkOf(bytesOf(before?.hash), digest)) ? digest : undefined;
}

/** The row as a link binds it. */
export function boundRow(sql: Sql, row: Record<string, unknown>): BoundRow {
  const flags = Number(row.flags);
  return {
    ...{ seq: Number(row.seq), conversation: Number(row.conversation), id: String(row.id) },
    ...{ turn: Number(row.turn), role: String(row.role), flags },
    time: row.time === null ? null : Number(row.time),
    body: row.body instanceof Uint8Array ? row.body : String(row.body),
    payloads: [
      ...((flags & FLAGS.hasPayloads) === 0 ? [] : boundPayloads(sql, Number(row.seq))),
      ...((flags & FLAGS.forgotten) === 0 ? [] : boundTombstone(sql, Number(row.seq))),
    ],
  };
}

const boundPayloads = (sql: Sql, message: number): BoundPayload[] =>
  sql(`
    SELECT place, hash FROM payload_use LEFT JOIN payload ON payload.id = payload_use.payload
    WHERE payload_use.message = ?
  `)
    .all(message)
    .map(({ place, hash }) => ({ place: String(place), hash: bytesOf(hash) }));

function headOf(sql: Sql, conversation: number, chain: "newest" | "changed"): Uint8Array {
  const row = sql("SELECT newest, changed FROM conversation WHERE id = ?").get(conversation);
  return bytesOf(row?.[chain]);
}

/** What a column of hashes says; nothing where it says nothing. */
export const bytesOf = (value: unknown): Uint8Array =>
  value instanceof Uint8Array ? value : NO_LINK;

export const isSame = (one: unknown, other: Uint8Array): boolean =>
  one instanceof Uint8Array && Buffer.compare(one, other) === 0;

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

/** Links every message that was stored before there were links. */
export function linkAll(sql: Sql): void {
  const heads = new Map<number, Uint8Array>();
  const insert = sql("INSERT INTO link (message, conversation, hash) VALUES (?, ?, ?)");
  for (const row of sql("SELECT * FROM message ORDER BY seq").iterate()) {
    const bound = boundRow(sql, row);
    const link = linkOf(heads.get(bound.conversation) ?? NO_LINK, digestOf(bound));
    insert.run(bound.seq, bound.conversation, link);
    heads.set(bound.conversation, link);
  }
  const close = sql("UPDATE conversation SET newest = ? WHERE id = ?");
  for (const [conversation, link] of heads) close.run(link, conversation);
}
