// Reads what the database knows of a conversation and its transcript does not say.
import { hash } from "node:crypto";
import type { AgentMessage, EngineRow } from "@clew/plugin-sdk/core";
import { isNameless, keyOf } from "../messages/name.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { FLAGS, messageOf } from "./rows.ts";
import type { Sql } from "./sql.ts";

/** What tells a message that is stored from all others. */
export interface SharedMessage {
  readonly seq: number;
  readonly name: string;
  readonly turn: number;
  /** Those that say more than how it is kept. */
  readonly flags: number;
  /** What it says, where no transcript tells it. Absent: its transcript does. */
  readonly message?: AgentMessage;
}

/** Up to where the rows of a conversation are known elsewhere. */
export interface Mark {
  readonly conversation: number;
  /** Number of the last message. */
  readonly seq: number;
  /** Of the last change of one. */
  readonly change: number;
  /** What the frontier of its summaries was. */
  readonly frontier: string;
  /** What each summary said, by id. */
  readonly summaries: ReadonlyMap<string, string>;
  /** What each cut said, by name, in their order. */
  readonly cuts: ReadonlyMap<string, string>;
}

const nothingOf = (conversation: number): Mark => ({
  ...{ conversation, seq: 0, change: 0, frontier: "" },
  ...{ summaries: new Map(), cuts: new Map() },
});

/** Flags that say how a row is kept are each database's own business. */
const SAID = FLAGS.seen | FLAGS.heartbeat | FLAGS.left;
/** Messages of one row. */
const IN_A_ROW = 1_000;

/** All that is new behind the mark, and how far that is. */
export function rowsBehind(
  sql: Sql,
  mark: Mark | number,
): { readonly rows: readonly EngineRow[]; readonly mark: Mark } {
  const known = typeof mark === "number" ? nothingOf(mark) : mark;
  const messages = messagesBehind(sql, known);
  const summaries = summariesBehind(sql, known);
  const cuts = cutsBehind(sql, known);
  const { conversation } = known;
  const place =
    typeof mark === "number" ? [rowOf("place", "", { conversation })] : ([] as EngineRow[]);
  return {
    rows: [...place, ...messages.rows, ...summaries.rows, ...cuts.rows],
    mark: { ...known, ...messages.mark, ...summaries.mark, ...cuts.mark },
  };
}

const rowOf = (kind: string, key: string, body: unknown): EngineRow => ({
  ...{ kind, key, body: JSON.stringify(body) },
});

/** A turn that is stored under its key. */
export const turnRow = (key: string): EngineRow => rowOf("turn", printOf(key), key);

/** Every one of a conversation. */
export const turnRows = (sql: Sql, conversation: number): EngineRow[] =>
  sql("SELECT key FROM advancement WHERE conversation = ?")
    .all(conversation)
    .map(({ key }) => turnRow(String(key)));

/** The transcripts that the session had before it was begun anew. */
export function familyRow(sql: Sql, session: OwnedSession): EngineRow {
  const { sessionId, sessionKey = "", owner = "" } = session;
  const rows = sql(`
    SELECT session_id FROM transcript
    WHERE session_key = ? AND session_key != '' AND owner = ? AND session_id != ? ORDER BY id
  `).all(keyOf(sessionKey), keyOf(owner), keyOf(sessionId));
  return rowOf(
    "family",
    "",
    rows.map(({ session_id }) => String(session_id)),
  );
}

function messagesBehind(sql: Sql, { conversation, seq, change }: Mark) {
  const fresh = sql(`
    SELECT seq, id, turn, flags FROM message WHERE conversation = ? AND seq > ? ORDER BY seq
  `).all(conversation, seq);
  // The newest change is the last of the table; few of them are of this conversation.
  const newest = Number(sql("SELECT coalesce(max(id), 0) AS id FROM change").get()?.id);
  const changed =
    newest === change
      ? []
      : sql(`
          SELECT seq, id, turn, flags FROM message WHERE seq IN (
            SELECT message FROM change WHERE id > ? AND conversation = ? AND message <= ?
          ) ORDER BY seq
        `).all(change, conversation, seq);
  const isApart = ({ id }: Record<string, unknown>) => isNameless(String(id));
  const told = fresh.filter((row) => !isApart(row)).map((row) => placeOf(row));
  const pieces = Array.from({ length: Math.ceil(told.length / IN_A_ROW) }, (_, at) =>
    told.slice(at * IN_A_ROW, (at + 1) * IN_A_ROW),
  );
  return {
    rows: [
      ...pieces.map((piece) => rowOf("told", String(piece[0]![0]), piece)),
      ...[...fresh.filter(isApart), ...changed].map((row) => messageRow(sql, row)),
    ],
    mark: { seq: Number(fresh.at(-1)?.seq ?? seq), change: newest },
  };
}

/** In a few characters, as there are many. */
const placeOf = ({ seq, id, turn, flags }: Record<string, unknown>) =>
  [Number(seq), String(id), Number(turn), Number(flags) & SAID] as const;

function messageRow(sql: Sql, row: Record<string, unknown>): EngineRow {
  const [seq, name, turn, flags] = placeOf(row);
  const place = { seq, name, turn, flags };
  // Whoever gave it an id has it in a transcript.
  const told = isNameless(name) ? sql("SELECT * FROM message WHERE seq = ?").get(seq) : undefined;
  const message = told === undefined ? {} : { message: messageOf(sql, told).message };
  return rowOf("message", String(seq), { ...place, ...message });
}

/** Of a message that nobody can tell any more. */
export const goneRow = (seq: number): EngineRow =>
  rowOf("message", String(seq), { seq, isGone: true });

function summariesBehind(sql: Sql, { conversation, frontier, summaries }: Mark) {
  const now = sql(`
    SELECT id, asked, hash FROM summary WHERE conversation = ? AND parent IS NULL ORDER BY first
  `)
    .all(conversation)
    .map(({ id, asked, hash: bound }) => `${id} ${asked} ${hexOf(bound)}`)
    .join("\n");
  const print = now === "" ? "" : printOf(now);
  if (print === frontier) return { rows: [], mark: {} };
  const all = summaryRows(sql, conversation);
  const prints = new Map(all.map(({ key, body }) => [key, printOf(body!)]));
  const gone = [...summaries.keys()].filter((key) => !prints.has(key));
  return {
    rows: [
      ...all.filter(({ key }) => prints.get(key) !== summaries.get(key)),
      ...gone.map((key): EngineRow => ({ kind: "summary", key, body: null })),
    ],
    mark: { frontier: print, summaries: prints },
  };
}

/** Those of a frontier, and all that they stand for. */
const summaryRows = (sql: Sql, conversation: number): EngineRow[] =>
  sql(`
    WITH RECURSIVE own (id) AS (
      SELECT id FROM summary WHERE conversation = ? AND parent IS NULL
      UNION ALL SELECT summary.id FROM summary JOIN own ON summary.parent = own.id
    )
    SELECT summary.* FROM own JOIN summary ON summary.id = own.id ORDER BY summary.id
  `)
    .all(conversation)
    .map(({ hash: _bound, conversation: _where, ...said }) =>
      rowOf("summary", String(said.id), said),
    );

function cutsBehind(sql: Sql, { conversation, cuts }: Mark) {
  const now = new Map(
    sql("SELECT name, seal FROM cut WHERE conversation = ? ORDER BY id")
      .all(conversation)
      .map(({ name, seal }) => [String(name), hexOf(seal)] as const),
  );
  const isSame = JSON.stringify([...now]) === JSON.stringify([...cuts]);
  if (isSame) return { rows: [], mark: {} };
  const changed = [...now.keys()].filter((name) => now.get(name) !== cuts.get(name));
  const gone = [...cuts.keys()].filter((name) => !now.has(name));
  const find = sql("SELECT * FROM cut WHERE conversation = ? AND name = ?");
  return {
    rows: [
      ...changed.map((name) => cutRow(find.get(conversation, name)!)),
      ...gone.map((name): EngineRow => ({ kind: "cut", key: name, body: null })),
      rowOf("cuts", "", [...now.keys()]),
      ledgerRow(sql, conversation),
    ],
    mark: { cuts: now },
  };
}

/** The ledger stands apart: only the newest cut keeps it, and it is the larger part of it. */
function cutRow(row: Record<string, unknown>): EngineRow {
  const { id: _id, conversation: _where, seal: _seal, ledger: _ledger, ...said } = row;
  return rowOf("cut", String(row.name), said);
}

function ledgerRow(sql: Sql, conversation: number): EngineRow {
  const row = sql(`
    SELECT name, ledger FROM cut WHERE conversation = ? AND ledger IS NOT NULL
    ORDER BY id DESC LIMIT 1
  `).get(conversation);
  if (row === undefined) return { kind: "ledger", key: "", body: null };
  const ledger = Buffer.from(row.ledger as Uint8Array).toString("base64");
  return rowOf("ledger", "", { name: row.name, ledger });
}

/** Where each message of a conversation is, by number, without what it says. */
export const sharedMessages = (sql: Sql, conversation: number): Map<number, SharedMessage> =>
  new Map(
    sql("SELECT seq, id, turn, flags FROM message WHERE conversation = ? ORDER BY seq")
      .all(conversation)
      .map((row) => placeOf(row))
      .map(([seq, name, turn, flags]) => [seq, { seq, name, turn, flags }]),
  );

export const printOf = (text: string): string => hash("sha256", text, "hex").slice(0, 40);

const hexOf = (bytes: unknown) =>
  bytes instanceof Uint8Array ? Buffer.from(bytes).toString("hex") : "";
