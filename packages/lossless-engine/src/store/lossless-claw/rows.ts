// What a database of lossless-claw holds, in whichever of its versions.
import type { Sql } from "../sql.ts";
import { type ForeignDatabase, openLosslessClaw } from "./open.ts";

/** A conversation of lossless-claw: a session until it is reset. */
export interface ClawConversation {
  readonly id: number;
  readonly sessionId: string;
  /** "": it names none. */
  readonly sessionKey: string;
  /** False: it was reset or archived, and another one goes on. */
  readonly isActive: boolean;
}

/** A part of a message of lossless-claw. */
export interface ClawPart {
  /** "text", "reasoning", "tool", "file" and others. */
  readonly type: string;
  readonly text: string | null;
  readonly toolCallId: string | null;
  readonly toolName: string | null;
  /** JSON, or text. */
  readonly toolInput: string | null;
  readonly toolOutput: string | null;
  /** What the columns do not say: the role, the block as it came, what was moved to a file. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A message of lossless-claw. */
export interface ClawMessage {
  readonly id: number;
  readonly seq: number;
  /** "system", "user", "assistant" or "tool". */
  readonly role: string;
  /** Its words, without tool calls. */
  readonly content: string;
  /** ms since the epoch, to the second. Null: it cannot be read. */
  readonly time: number | null;
  /** Id of the entry of its transcript. Null: it was stored without. */
  readonly entryId: string | null;
  readonly parts: readonly ClawPart[];
}

/** A summary of lossless-claw. */
export interface ClawSummary {
  readonly id: string;
  readonly kind: string;
  readonly depth: number;
  readonly content: string;
  /** As it was written there. Null: unknown. */
  readonly earliest: string | null;
  readonly latest: string | null;
  readonly model: string | null;
  /** Number of the last message it was made of, itself or by those below it. Null: of none. */
  readonly lastMessage: number | null;
}

/** A text or picture that was moved to a file. */
export interface ClawFile {
  readonly id: string;
  readonly conversation: number;
  readonly mimeType: string | null;
  readonly bytes: number | null;
  /** Where it was written. */
  readonly path: string;
}

/** All of it, as it is when it is opened. */
export interface ClawSource {
  /** Oldest first. */
  conversations(): readonly ClawConversation[];
  /** Of a conversation, behind a message of it, oldest first; null = from the first on. */
  messages(request: {
    conversation: number;
    after: Pick<ClawMessage, "seq" | "id"> | null;
    limit: number;
  }): ClawMessage[];
  /** How many messages a conversation has. */
  count(conversation: number): number;
  /** Of a conversation, shallow before deep. */
  summaries(conversation: number): readonly ClawSummary[];
  files(): readonly ClawFile[];
  /** Rows of the tables that have no place elsewhere, where there are any. */
  others(): readonly { readonly table: string; readonly rows: number }[];
  close(): void;
}

type Row = Record<string, unknown>;

/** See `openLosslessClaw`. */
export function readLosslessClaw(path: string, scratch: string): ClawSource {
  const { sql, close }: ForeignDatabase = openLosslessClaw(path, scratch);
  const has = (table: string) =>
    sql("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table) !== undefined;
  const messageKey = column(sql, "messages", ["message_id", "id"]);
  const conversationOf = column(sql, "messages", ["conversation_id", "conversation"]);
  const partsOf = has("message_parts")
    ? column(sql, "message_parts", ["message_id", "message"])
    : undefined;
  return {
    close,
    conversations: () => sql("SELECT * FROM conversations ORDER BY 1").all().map(conversationIn),
    messages({ conversation, after, limit }) {
      const behind = after === null ? "" : `AND (seq, ${messageKey}) > (?, ?)`;
      const rows = sql(`
        SELECT * FROM messages WHERE ${conversationOf} = ? ${behind}
        ORDER BY seq, ${messageKey} LIMIT ?
      `).all(conversation, ...(after === null ? [] : [after.seq, after.id]), limit);
      return rows.map((row) => {
        const id = Number(row[messageKey]);
        const parts =
          partsOf === undefined
            ? []
            : sql(`SELECT * FROM message_parts WHERE ${partsOf} = ? ORDER BY ordinal`).all(id);
        return messageIn(row, id, parts.map(partIn));
      });
    },
    count: (conversation) =>
      Number(
        sql(`SELECT count(*) AS rows FROM messages WHERE ${conversationOf} = ?`).get(conversation)
          ?.rows,
      ),
    summaries: (conversation) => (has("summaries") ? summariesOf(sql, has, conversation) : []),
    files: () => (has("large_files") ? sql("SELECT * FROM large_files").all().map(fileIn) : []),
    others: () =>
      OTHERS.filter(has).flatMap((table) => {
        const rows = Number(sql(`SELECT count(*) AS rows FROM ${table}`).get()?.rows);
        return rows === 0 ? [] : [{ table, rows }];
      }),
  };
}

const OTHERS: readonly string[] = [
  ...["focus_briefs", "conversation_compaction_maintenance", "conversation_compaction_telemetry"],
];

/** The name that this version has for it. */
function column(sql: Sql, table: string, names: readonly string[]): string {
  const known = new Set(
    sql("SELECT name FROM pragma_table_info(?)")
      .all(table)
      .map(({ name }) => String(name)),
  );
  return names.find((name) => known.has(name)) ?? names[0]!;
}

function conversationIn(row: Row): ClawConversation {
  return {
    id: Number(row.conversation_id ?? row.id),
    sessionId: String(row.session_id),
    sessionKey: textOr(row.session_key) ?? "",
    isActive: row.active === undefined || Number(row.active) !== 0,
  };
}

function messageIn(row: Row, id: number, parts: readonly ClawPart[]): ClawMessage {
  return {
    ...{ id, seq: Number(row.seq), role: String(row.role), parts },
    content: textOr(row.content) ?? "",
    time: timeIn(row.created_at),
    entryId: textOr(row.transcript_entry_id),
  };
}

function partIn(row: Row): ClawPart {
  return {
    type: String(row.part_type),
    text: textOr(row.text_content),
    toolCallId: textOr(row.tool_call_id),
    toolName: textOr(row.tool_name),
    toolInput: textOr(row.tool_input),
    toolOutput: textOr(row.tool_output),
    metadata: recordIn(row.metadata),
  };
}

function fileIn(row: Row): ClawFile {
  return {
    id: String(row.file_id ?? row.id),
    conversation: Number(row.conversation_id ?? row.conversation),
    mimeType: textOr(row.mime_type),
    bytes: typeof row.byte_size === "number" ? row.byte_size : null,
    path: String(row.storage_uri ?? ""),
  };
}

function summariesOf(
  sql: Sql,
  has: (table: string) => boolean,
  conversation: number,
): readonly ClawSummary[] {
  const key = column(sql, "summaries", ["summary_id", "id"]);
  const owner = column(sql, "summaries", ["conversation_id", "conversation", "conv"]);
  const last = lastMessages(sql, has, conversation);
  return sql(`SELECT * FROM summaries WHERE ${owner} = ? ORDER BY depth, ${key}`)
    .all(conversation)
    .map((row) => ({
      id: String(row[key]),
      kind: String(row.kind),
      depth: Number(row.depth),
      content: textOr(row.content) ?? "",
      earliest: textOr(row.earliest_at),
      latest: textOr(row.latest_at),
      model: textOr(row.model),
      lastMessage: last(String(row[key])),
    }));
}

/** A condensed summary has "parents": those that it was made of. */
function lastMessages(
  sql: Sql,
  has: (table: string) => boolean,
  conversation: number,
): (summary: string, above?: readonly string[]) => number | null {
  const messageKey = column(sql, "messages", ["message_id", "id"]);
  const conversationOf = column(sql, "messages", ["conversation_id", "conversation"]);
  const own = has("summary_messages")
    ? sql(`
        SELECT max(seq) AS seq FROM messages WHERE ${conversationOf} = ? AND ${messageKey} IN
          (SELECT message_id FROM summary_messages WHERE summary_id = ?)
      `)
    : undefined;
  const below = has("summary_parents")
    ? sql("SELECT parent_summary_id AS id FROM summary_parents WHERE summary_id = ?")
    : undefined;
  return function lastOf(summary: string, above: readonly string[] = []): number | null {
    // Edges that lead in a circle say nothing.
    if (above.includes(summary)) return null;
    const seqs: unknown[] = [
      own?.get(conversation, summary)?.seq ?? null,
      ...(below?.all(summary) ?? []).map(({ id }) => lastOf(String(id), [...above, summary])),
    ].filter((seq) => seq !== null);
    return seqs.length === 0 ? null : Math.max(...seqs.map(Number));
  };
}

const textOr = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : null;

function recordIn(value: unknown): Record<string, unknown> {
  if (typeof value !== "string") return {};
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Beyond it a number counts milliseconds. */
const MOST_SECONDS = 1e11;

/** Of dates without a zone UTC is meant. */
function timeIn(value: unknown): number | null {
  if (typeof value === "number") return value < MOST_SECONDS ? value * 1_000 : value;
  if (typeof value !== "string") return null;
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/.test(value);
  const time = Date.parse(hasZone ? value : `${value.replace(" ", "T")}Z`);
  return Number.isNaN(time) ? null : time;
}
