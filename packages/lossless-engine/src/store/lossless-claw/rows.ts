// What a database of lossless-claw holds, in whichever of its versions.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { othersTurn, pieceOfTime } from "../../turns.ts";
import type { Sql } from "../sql.ts";
import { openLosslessClaw } from "./open.ts";

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
}

/** What was made of what: ids of summaries. */
export interface ClawEdges {
  /** By the id of a message that they were made of. */
  readonly aboveMessages: ReadonlyMap<number, readonly string[]>;
  /** By the id of a summary that they were made of. */
  readonly aboveSummaries: ReadonlyMap<string, readonly string[]>;
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

/** Where a row of messages or summaries is read. */
export interface ClawRow<Id> {
  readonly row: number;
  readonly id: Id;
}

/** All of it, as it is when it is opened. */
export interface ClawSource {
  /** Oldest first. */
  readonly conversations: readonly ClawConversation[];
  readonly files: readonly ClawFile[];
  readonly edges: ClawEdges;
  /** What nobody can find here, a clause each. */
  readonly left: readonly string[];
  /** Rows of the tables that have no place elsewhere, where there are any. */
  readonly others: readonly { readonly table: string; readonly rows: number }[];
  /** Of a conversation, oldest first. */
  messagesOf(conversation: number): readonly ClawRow<number>[];
  /** Null: it is larger than `MOST_BYTES`. */
  message(row: number): ClawMessage | null;
  /** Of a conversation, shallow before deep. */
  summariesOf(conversation: number): readonly ClawRow<string>[];
  /** Null: it is larger than `MOST_BYTES`. */
  summary(row: number): ClawSummary | null;
  close(): void;
}

/** Of a message with its parts, of a summary, of what a message moved to files. */
export const MOST_BYTES = 64 * 1024 * 1024;

/** Ids, names and paths are shorter. */
const NAME_BYTES = 4_096;
/** A row with nothing in it takes so many of its file. */
const ROW_BYTES = 4;
const MOST_ROWS = 20_000_000;

type Row = Record<string, unknown>;

/**
 * Reads where everything is, in slices; others have their turn. Every row is met once, in the order
 * in which it stands, and found by its number afterwards: no index and no order of the database is
 * relied upon, so that one that somebody made up is read in time, too. Throws as `openLosslessClaw`
 * does, and REQUEST_INVALID where there are more rows than the file has room for.
 */
export async function readLosslessClaw(
  path: string,
  scratch: string,
  signal?: AbortSignal | undefined,
): Promise<ClawSource> {
  const { sql, bytes, close } = openLosslessClaw(path, scratch);
  try {
    refuseOddNumbers(sql, path);
    const scan = scanner(sql, { path, most: Math.min(MOST_ROWS, bytes / ROW_BYTES), signal });
    const left: string[] = [];
    const messages = await messagePlaces(scan, sql, left);
    const summaries = await summaryPlaces(scan, sql, left);
    const parts = await partsIn(scan, sql);
    const edges = await edgesIn(scan, sql);
    const conversations = await conversationsIn(scan, sql);
    const known = new Set(conversations.map(({ id }) => id));
    left.push(...ofNone("message", messages, known), ...ofNone("summary", summaries, known));
    return {
      ...{ edges, conversations, left, close },
      files: await filesIn(scan, sql),
      others: await othersIn(scan),
      messagesOf: (conversation) => messages.get(conversation) ?? [],
      message: messageReader(sql, parts),
      summariesOf: (conversation) => summaries.get(conversation) ?? [],
      summary: summaryReader(sql),
    };
  } catch (error) {
    close();
    throw error;
  }
}

type Scan = (table: string, columns: string, look: (row: Row) => void) => Promise<void>;

/** Each row of a table, while there are no more than can be. */
function scanner(
  sql: Sql,
  { path, most, signal }: { path: string; most: number; signal: AbortSignal | undefined },
): Scan {
  return async (table, columns, look) => {
    if (columnsOf(sql, table).size === 0) return;
    let [rows, isOver] = [0, pieceOfTime()];
    for (const row of sql(`SELECT ${columns} FROM ${table} NOT INDEXED`).iterate()) {
      if (++rows > most)
        throw new ContextEngineError(
          "REQUEST_INVALID",
          `${path} cannot be read: its table ${table} brings more rows than the file has room for; mend it with the sqlite3 program (.recover), or migrate a backup of it.`,
        );
      look(row);
      if (!isOver()) continue;
      await othersTurn();
      signal?.throwIfAborted();
      isOver = pieceOfTime();
    }
  };
}

/** Without those that are computed; none where there is no such table. */
const columnsOf = (sql: Sql, table: string): ReadonlySet<string> =>
  new Set(
    sql("SELECT name FROM pragma_table_info(?)")
      .all(table)
      .map(({ name }) => String(name).toLowerCase()),
  );

/** Rows are found by their own numbers, which no column may hide. */
function refuseOddNumbers(sql: Sql, path: string): void {
  for (const table of ["messages", "message_parts", "summaries"])
    for (const { name } of sql("SELECT name FROM pragma_table_xinfo(?)").all(table))
      if (String(name).toLowerCase() === "rowid")
        throw new ContextEngineError(
          "REQUEST_INVALID",
          `${path} is no database of lossless-claw: its table ${table} has a column ${name}.`,
        );
}

/** The name that this version has for it; NULL where it has none. */
function column(sql: Sql, table: string, names: readonly string[]): string {
  const known = columnsOf(sql, table);
  return names.find((name) => known.has(name)) ?? "NULL";
}

/** The column, where it is not longer than names are, and no number that JavaScript has not. */
const short = (sql: Sql, table: string, ...names: string[]): string => {
  const name = column(sql, table, names);
  return `CASE WHEN octet_length(${name}) <= ${NAME_BYTES} AND ${isExact(name)} THEN ${name} END`;
};

const isExact = (name: string) =>
  `(typeof(${name}) <> 'integer' OR ${name} BETWEEN -${Number.MAX_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER})`;

/** The number of a row; NULL where JavaScript has none like it. */
const ROW = `CASE WHEN ${isExact("rowid")} THEN rowid END AS row`;

/** What names the conversation. */
const CONVERSATION = ["conversation_id", "conversation", "conv"];

/** By conversation, in the order of a column, then of their ids. */
async function placesOf<Id extends number | string>(
  scan: Scan,
  sql: Sql,
  table: string,
  ids: readonly string[],
  order: readonly string[],
  idOf: (value: unknown) => Id,
  left: string[],
): Promise<ReadonlyMap<number, readonly ClawRow<Id>[]>> {
  const found = new Map<number, (ClawRow<Id> & { at: number })[]>();
  const columns = `
    ${ROW}, ${short(sql, table, ...ids)} AS id, ${short(sql, table, ...order)} AS at,
    ${short(sql, table, ...CONVERSATION)} AS conversation
  `;
  await scan(table, columns, ({ row, id, at, conversation }) => {
    if (row === null) {
      left.push(`a row of ${table} whose number is beyond 2^53`);
      return;
    }
    const places = found.get(Number(conversation)) ?? [];
    found.set(Number(conversation), places);
    // Those without a place come last.
    places.push({
      ...{ row: Number(row), id: idOf(id) },
      at: typeof at === "number" ? at : Infinity,
    });
  });
  for (const places of found.values())
    places.sort((a, b) =>
      a.at === b.at ? (a.id < b.id ? -1 : a.id > b.id ? 1 : a.row - b.row) : a.at - b.at,
    );
  return found;
}

const messagePlaces = (scan: Scan, sql: Sql, left: string[]) =>
  placesOf(scan, sql, "messages", ["message_id", "id"], ["seq"], Number, left);

const summaryPlaces = (scan: Scan, sql: Sql, left: string[]) =>
  placesOf(scan, sql, "summaries", ["summary_id", "id"], ["depth"], textOf, left);

/** What belongs to conversations that are not there. */
const ofNone = (
  what: "message" | "summary",
  places: ReadonlyMap<number, readonly unknown[]>,
  known: ReadonlySet<number>,
): string[] =>
  [...places]
    .filter(([conversation]) => !known.has(conversation))
    .map(([conversation, { length }]) => {
      const many = what === "message" ? "messages" : "summaries";
      return `${length === 1 ? `a ${what}` : `${length} ${many}`} of conversation ${conversation}, which is not there`;
    });

/** Places of parts, and their order, by the id of their message; how many bytes they take. */
interface Parts {
  readonly places: readonly { readonly row: number; readonly ordinal: number }[];
  readonly bytes: number;
}

const PART_TEXTS = ["text_content", "tool_input", "tool_output", "metadata"];

async function partsIn(scan: Scan, sql: Sql): Promise<ReadonlyMap<number, Parts>> {
  const found = new Map<number, { places: { row: number; ordinal: number }[]; bytes: number }>();
  const table = "message_parts";
  const columns = `
    ${ROW}, ${short(sql, table, "message_id", "message")} AS message,
    ${short(sql, table, "ordinal")} AS ordinal, ${bytesOf(sql, table, PART_TEXTS)} AS bytes
  `;
  await scan(table, columns, ({ row, message, ordinal, bytes }) => {
    const parts = found.get(Number(message)) ?? { places: [], bytes: 0 };
    found.set(Number(message), parts);
    if (row !== null) parts.places.push({ row: Number(row), ordinal: Number(ordinal) });
    parts.bytes += Number(bytes);
  });
  for (const { places } of found.values()) places.sort((a, b) => a.ordinal - b.ordinal);
  return found;
}

/** How many the texts take; of none of them is read. */
const bytesOf = (sql: Sql, table: string, names: readonly string[]): string =>
  names.map((name) => `coalesce(octet_length(${column(sql, table, [name])}), 0)`).join(" + ");

async function edgesIn(scan: Scan, sql: Sql): Promise<ClawEdges> {
  const edges = async <Id>(table: string, name: string, idOf: (value: unknown) => Id) => {
    const found = new Map<Id, string[]>();
    const columns = `${short(sql, table, "summary_id")} AS summary, ${short(sql, table, name)} AS id`;
    await scan(table, columns, ({ summary, id }) => {
      const known = found.get(idOf(id));
      if (known === undefined) found.set(idOf(id), [String(summary)]);
      else known.push(String(summary));
    });
    return found;
  };
  return {
    aboveMessages: await edges("summary_messages", "message_id", Number),
    // A condensed summary has "parents": those that it was made of.
    aboveSummaries: await edges("summary_parents", "parent_summary_id", textOf),
  };
}

async function conversationsIn(scan: Scan, sql: Sql): Promise<readonly ClawConversation[]> {
  const found: ClawConversation[] = [];
  const table = "conversations";
  const columns = `
    ${short(sql, table, "conversation_id", "id")} AS id, ${short(sql, table, "session_id")} AS name,
    ${short(sql, table, "session_key")} AS key, ${short(sql, table, "active")} AS active
  `;
  const knowsActive = column(sql, table, ["active"]) !== "NULL";
  await scan(table, columns, ({ id, name, key, active }) =>
    found.push({
      ...{ id: Number(id), sessionKey: textOr(key) ?? "" },
      sessionId: name === null ? `lossless-claw-${id}` : String(name),
      isActive: !knowsActive || Number(active) !== 0,
    }),
  );
  return found.sort((a, b) => a.id - b.id);
}

async function filesIn(scan: Scan, sql: Sql): Promise<readonly ClawFile[]> {
  const found: ClawFile[] = [];
  const table = "large_files";
  const columns = `
    ${short(sql, table, "file_id", "id")} AS id, ${short(sql, table, ...CONVERSATION)} AS conversation,
    ${short(sql, table, "mime_type")} AS type, ${short(sql, table, "byte_size")} AS bytes,
    ${short(sql, table, "storage_uri")} AS path
  `;
  await scan(table, columns, ({ id, conversation, type, bytes, path }) =>
    found.push({
      ...{ id: String(id), conversation: Number(conversation), mimeType: textOr(type) },
      ...{ bytes: typeof bytes === "number" ? bytes : null, path: textOr(path) ?? "" },
    }),
  );
  return found;
}

const OTHERS: readonly string[] = [
  ...["focus_briefs", "conversation_compaction_maintenance", "conversation_compaction_telemetry"],
];

async function othersIn(scan: Scan): Promise<{ table: string; rows: number }[]> {
  const counts = OTHERS.map((table) => ({ table, rows: 0 }));
  for (const each of counts) await scan(each.table, "1", () => void each.rows++);
  return counts.filter(({ rows }) => rows > 0);
}

function messageReader(
  sql: Sql,
  partsOf: ReadonlyMap<number, Parts>,
): (row: number) => ClawMessage | null {
  const table = "messages";
  const content = column(sql, table, ["content"]);
  const ask = `
    SELECT ${short(sql, table, "message_id", "id")} AS id, ${short(sql, table, "seq")} AS seq,
      ${short(sql, table, "role")} AS role, ${short(sql, table, "created_at")} AS time,
      ${short(sql, table, "transcript_entry_id")} AS entry,
      octet_length(${content}) AS bytes, ${bounded(content)} AS content
    FROM ${table} WHERE rowid = ?
  `;
  const partAt = partReader(sql);
  return (row) => {
    const read = sql(ask).get(row)!;
    const id = Number(read.id);
    const { places, bytes } = partsOf.get(id) ?? { places: [], bytes: 0 };
    if (Number(read.bytes ?? 0) + bytes > MOST_BYTES) return null;
    return {
      ...{ id, seq: Number(read.seq), role: String(read.role) },
      content: textOr(read.content) ?? "",
      time: timeIn(read.time),
      entryId: textOr(read.entry),
      parts: places.map((place) => partAt(place.row)),
    };
  };
}

function partReader(sql: Sql): (row: number) => ClawPart {
  const table = "message_parts";
  const ask = `
    SELECT ${short(sql, table, "part_type")} AS part_type,
      ${short(sql, table, "tool_call_id")} AS tool_call_id,
      ${short(sql, table, "tool_name")} AS tool_name,
      ${PART_TEXTS.map((name) => `${column(sql, table, [name])} AS ${name}`).join(", ")}
    FROM ${table} WHERE rowid = ?
  `;
  return (row) => {
    const read = sql(ask).get(row)!;
    return {
      type: String(read.part_type),
      text: textOr(read.text_content),
      toolCallId: textOr(read.tool_call_id),
      toolName: textOr(read.tool_name),
      toolInput: textOr(read.tool_input),
      toolOutput: textOr(read.tool_output),
      metadata: recordIn(read.metadata),
    };
  };
}

function summaryReader(sql: Sql): (row: number) => ClawSummary | null {
  const table = "summaries";
  const content = column(sql, table, ["content"]);
  const ask = `
    SELECT ${short(sql, table, "summary_id", "id")} AS id, ${short(sql, table, "kind")} AS kind,
      ${short(sql, table, "depth")} AS depth, ${short(sql, table, "earliest_at")} AS earliest,
      ${short(sql, table, "latest_at")} AS latest, ${short(sql, table, "model")} AS model,
      octet_length(${content}) AS bytes, ${bounded(content)} AS content
    FROM ${table} WHERE rowid = ?
  `;
  return (row) => {
    const read = sql(ask).get(row)!;
    if (Number(read.bytes ?? 0) > MOST_BYTES) return null;
    return {
      ...{ id: String(read.id), kind: String(read.kind), depth: Number(read.depth) },
      ...{ content: textOr(read.content) ?? "", model: textOr(read.model) },
      ...{ earliest: textOr(read.earliest), latest: textOr(read.latest) },
    };
  };
}

const bounded = (name: string) =>
  `CASE WHEN octet_length(${name}) <= ${MOST_BYTES} THEN ${name} END`;

const textOf = (value: unknown): string => String(value);

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
