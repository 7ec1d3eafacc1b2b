// Binds messages anew behind one that was forgotten, and blesses no damage by it.
import { randomBytes } from "node:crypto";
import { boundRow, bytesOf, digestOf, isSame, LINK_BYTES, linkOf, NO_LINK } from "./chain.ts";
import type { Sql } from "./sql.ts";

/** Rows that are read at once. */
const SLICE = 256;

/**
 * After rows of a conversation from number `from` on became placeholders: `gone` are their numbers.
 * What its link did not bind before is bound by none afterwards, so that an audit goes on to find
 * it.
 */
export function relink(
  sql: Sql,
  { conversation, from, gone }: { conversation: number; from: number; gone: ReadonlySet<number> },
): void {
  relinkMessages(sql, { conversation, from, gone });
  relinkChanges(sql, { conversation, gone });
}

function relinkMessages(
  sql: Sql,
  { conversation, from, gone }: { conversation: number; from: number; gone: ReadonlySet<number> },
): void {
  const last = sql(
    "SELECT hash FROM link WHERE conversation = ? AND message < ? ORDER BY message DESC LIMIT 1",
  ).get(conversation, from);
  let [before, newBefore] = [bytesOf(last?.hash), bytesOf(last?.hash)];
  const slice = sql(`
    SELECT * FROM link WHERE conversation = ? AND message >= ? ORDER BY message LIMIT ?
  `);
  const update = sql("UPDATE link SET hash = ? WHERE message = ?");
  for (let at = from; ; ) {
    const links = slice.all(conversation, at, SLICE);
    for (const { message, hash } of links) {
      const seq = Number(message);
      // Its changes go: what it says now is what it was stored as.
      const digest = gone.has(seq) ? rowDigest(sql, seq) : firstDigest(sql, seq);
      const isBound =
        gone.has(seq) || digest === null || isSame(hash, linkOf(before, digest ?? NO_LINK));
      before = bytesOf(hash);
      newBefore = isBound ? linkOf(newBefore, digest ?? NO_LINK) : bindsNothing();
      update.run(newBefore, seq);
    }
    if (links.length < SLICE) break;
    at = Number(links.at(-1)!.message) + 1;
  }
  close(sql, "newest", { conversation, before, newBefore });
}

/**
 * What the message said when it was stored: its row, or what its first change says that it was.
 * Null: nobody knows. Undefined: the row is gone.
 */
function firstDigest(sql: Sql, seq: number): Uint8Array | null | undefined {
  const change = sql("SELECT was FROM change WHERE message = ? ORDER BY id LIMIT 1").get(seq);
  if (change !== undefined) return change.was === null ? null : bytesOf(change.was);
  return rowDigest(sql, seq);
}

/** What it says now. Undefined: the row is gone. */
function rowDigest(sql: Sql, seq: number): Uint8Array | undefined {
  const row = sql("SELECT * FROM message WHERE seq = ?").get(seq);
  return row && digestOf(boundRow(sql, row));
}

/** Changes of what is gone tell of it: they go, too. */
function relinkChanges(
  sql: Sql,
  { conversation, gone }: { conversation: number; gone: ReadonlySet<number> },
): void {
  const changes = sql("SELECT * FROM change WHERE conversation = ? ORDER BY id").all(conversation);
  if (changes.length === 0) return;
  const next = sql("SELECT was FROM change WHERE message = ? AND id > ? ORDER BY id LIMIT 1");
  let [before, newBefore] = [NO_LINK, NO_LINK];
  for (const { id, message, hash } of changes) {
    const [number, seq] = [Number(id), Number(message)];
    if (gone.has(seq)) {
      before = bytesOf(hash);
      sql("DELETE FROM change WHERE id = ?").run(number);
      continue;
    }
    const later = next.get(seq, number);
    const row = sql("SELECT * FROM message WHERE seq = ?").get(seq);
    const said =
      later === undefined ? row && digestOf(boundRow(sql, row)) : (later.was as Uint8Array | null);
    const isBound = said === null || isSame(hash, linkOf(before, said ?? NO_LINK));
    before = bytesOf(hash);
    newBefore = isBound ? linkOf(newBefore, said ?? NO_LINK) : bindsNothing();
    sql("UPDATE change SET hash = ? WHERE id = ?").run(newBefore, number);
  }
  close(sql, "changed", { conversation, before, newBefore });
}

const bindsNothing = () => randomBytes(LINK_BYTES);

/** A conversation that did not end with its last link does not do so now. */
function close(
  sql: Sql,
  chain: "newest" | "changed",
  {
    conversation,
    before,
    newBefore,
  }: { conversation: number; before: Uint8Array; newBefore: Uint8Array },
): void {
  const row = sql("SELECT newest, changed FROM conversation WHERE id = ?").get(conversation);
  if (row === undefined || !isSame(row[chain], before)) return;
  const hash = newBefore === NO_LINK ? null : newBefore;
  sql(`UPDATE conversation SET ${chain} = ? WHERE id = ?`).run(hash, conversation);
}
