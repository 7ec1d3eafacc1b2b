// Takes what messages said out of the database, and leaves placeholders.
import { randomUUID } from "node:crypto";
import { isNameless } from "../messages/name.ts";
import { type Absence, placeholderOf } from "../messages/placeholder.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { packMessage } from "./body.ts";
import { changing } from "./chain.ts";
import { conversationsOf, transcriptOf } from "./conversations.ts";
import { dropCuts, thinRecords } from "./cuts.ts";
import { forgetDependents } from "./dependents.ts";
import { markStale } from "./forgetting.ts";
import { areEmpty, carry, type Graves } from "./graves.ts";
import { bytesAmongOthers } from "./oldest.ts";
import { relink } from "./relink.ts";
import { FLAGS, messageOf } from "./rows.ts";
import { sealing } from "./seals.ts";
import { forgetWords } from "./search-index.ts";
import type { Sql, Store } from "./store.ts";
import { dropWords } from "./summaries.ts";
import type { FactsReader } from "./summary-rows.ts";
import { nameOfForgotten, raise, tombstoneFor } from "./tombstones.ts";
import { forgetTrigrams } from "./trigram-index.ts";

/** What is to be forgotten. */
export interface Forgetting {
  /** Numbers of messages. */
  readonly numbers: readonly number[];
  /** Sessions whose names go, too. */
  readonly sessions: readonly OwnedSession[];
  /** Numbers of summaries whose words, by a model, go. Absent: none. */
  readonly summaries?: readonly number[] | undefined;
  /** Numbers of records that go. Absent: none but those of the messages' conversations. */
  readonly records?: readonly number[] | undefined;
  /** What is forgotten elsewhere, and known from now on when it is told. Absent: nothing. */
  readonly graves?: readonly Graves[] | undefined;
}

/**
 * All of it at once, or nothing; how many messages it were. Those that are forgotten already stay
 * as they are, so that doing it again changes nothing. Pages may hold the words until `scrub`.
 * `reader`: makes the summaries of what is left.
 */
export function forget(
  store: Store,
  { numbers, sessions, summaries = [], records = [], graves = [] }: Forgetting,
  reader: FactsReader,
): number {
  return store.change((sql) => {
    const byConversation = new Map<number, Set<number>>();
    for (const seq of numbers) {
      const conversation = bury(sql, seq, "forgotten");
      if (conversation === undefined) continue;
      byConversation.set(conversation, (byConversation.get(conversation) ?? new Set()).add(seq));
    }
    const gone = [...byConversation.values()].flatMap((seqs) => [...seqs]);
    forgetTrigrams(sql, gone);
    for (const [conversation, seqs] of byConversation) {
      forgetDependents(sql, conversation, seqs, reader);
      relink(sql, { conversation, from: Math.min(...seqs), gone: seqs });
    }
    dropWords(sql, summaries);
    dropCuts(sql, records);
    for (const session of sessions) unname(sql, session);
    if (!areEmpty(graves)) carry(sql, graves);
    if (gone.length > 0) removeUnused(sql);
    if (gone.length + sessions.length + summaries.length + records.length > 0) markStale(sql, true);
    return gone.length;
  });
}

/**
 * The same for messages that grew too old, and lighter: their first links stay, and only what can
 * be written in little time is written. `numbers`: a few.
 */
export function expire(store: Store, numbers: readonly number[]): number {
  return store.change((sql) => {
    let expired = 0;
    let loose = 0;
    const conversations = new Set<number>();
    const size = sql("SELECT length(CAST(body AS BLOB)) AS bytes FROM message WHERE seq = ?");
    const bytesOf = (seq: number) => bytesAmongOthers(sql, Number(size.get(seq)?.bytes ?? 0));
    const held = sql(`
      SELECT DISTINCT payload FROM payload_use WHERE message IN (SELECT value FROM json_each(?))
    `)
      .all(JSON.stringify(numbers))
      .map(({ payload }) => Number(payload));
    const known = sql("SELECT 1 FROM forgotten WHERE message = ?");
    for (const seq of numbers.filter((each) => known.get(each) === undefined))
      changing(sql, seq, () => {
        const before = bytesOf(seq);
        const conversation = bury(sql, seq, "expired");
        if (conversation === undefined) return;
        conversations.add(conversation);
        expired++;
        loose += before - bytesOf(seq);
      });
    sql(`
      DELETE FROM payload WHERE id IN (SELECT value FROM json_each(?))
        AND NOT EXISTS (SELECT 1 FROM payload_use WHERE payload_use.payload = payload.id)
    `).run(JSON.stringify(held));
    for (const conversation of conversations) thinRecords(sql, conversation);
    if (expired > 0) markStale(sql, true, loose);
    return expired;
  });
}

/**
 * Makes its row a placeholder; the row's conversation. Undefined: it is one, or there is none. What
 * is no longer kept can be forgotten: the hash of what it said stays.
 */
function bury(sql: Sql, seq: number, absence: Absence): number | undefined {
  const row = sql("SELECT * FROM message WHERE seq = ?").get(seq);
  if (row === undefined) return undefined;
  const { message, name, conversation } = messageOf(sql, row);
  const known = sql("SELECT hash, expired FROM forgotten WHERE message = ?").get(seq);
  if (known !== undefined) {
    if (absence === "expired" || Number(known.expired) === 0) return undefined;
    raise(sql, seq, { hash: known.hash as Uint8Array, absence });
    const { body } = packMessage(placeholderOf(message, absence));
    sql("UPDATE message SET body = ? WHERE seq = ?").run(body, seq);
    return conversation;
  }
  const tombstone = tombstoneFor(sql, message, absence);
  raise(sql, seq, tombstone);
  const { body } = packMessage(placeholderOf(message, absence));
  const flags = (Number(row.flags) & (FLAGS.heartbeat | FLAGS.left)) | FLAGS.forgotten;
  sql("DELETE FROM payload_use WHERE message = ?").run(seq);
  sql("UPDATE message SET id = ?, flags = ?, body = ? WHERE seq = ?").run(
    ...[isNameless(name) ? freeName(sql, conversation, nameOfForgotten(tombstone)) : name],
    ...[flags, body, seq],
  );
  forgetWords(sql, seq);
  return conversation;
}

/** Some say the same twice. */
function freeName(sql: Sql, conversation: number, name: string): string {
  const taken = sql("SELECT 1 FROM message WHERE conversation = ? AND id = ?");
  let free = name;
  for (let time = 2; taken.get(conversation, free) !== undefined; time++) free = `${name}#${time}`;
  return free;
}

/** Nobody goes on with it, and nothing tells what it was called. */
const unname = (sql: Sql, session: OwnedSession): void =>
  unnameTranscripts(sql, conversationsOf(sql, session));

/** The same of all transcripts of these conversations. */
export function unnameTranscripts(sql: Sql, conversations: readonly number[]): void {
  const rows = sql(
    "SELECT id FROM transcript WHERE conversation IN (SELECT value FROM json_each(?))",
  ).all(JSON.stringify(conversations));
  for (const { id } of rows) unnameTranscript(sql, Number(id));
}

/** Nothing tells what it was called. */
export function unnameTranscript(sql: Sql, id: number): void {
  sql("DELETE FROM cursor WHERE transcript = ?").run(id);
  sealing(sql, transcriptOf(id), () =>
    sql("UPDATE transcript SET session_id = ?, session_key = '' WHERE id = ?").run(
      ...[`forgotten:${randomUUID()}`, id],
    ),
  );
}

/** Long texts that no message holds any more. */
function removeUnused(sql: Sql): void {
  sql("DELETE FROM payload WHERE id NOT IN (SELECT payload FROM payload_use)").run();
}
