// Reads one message or summary, by the number of its row.
import type { Sql } from "../sql.ts";
import { bounded, column, short, textOr } from "./columns.ts";
import { PART_TEXTS, type Parts } from "./places.ts";
import { type ClawMessage, type ClawPart, type ClawSummary, MOST_BYTES } from "./source.ts";

export function messageReader(
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

export function summaryReader(sql: Sql): (row: number) => ClawSummary | null {
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
