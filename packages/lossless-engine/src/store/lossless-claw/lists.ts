// Lists the conversations and files of a database, and what has no place elsewhere.
import type { Sql } from "../sql.ts";
import { CONVERSATION, column, short, textOr } from "./columns.ts";
import type { Scan } from "./scan.ts";
import type { ClawConversation, ClawFile } from "./source.ts";

export async function conversationsIn(scan: Scan, sql: Sql): Promise<readonly ClawConversation[]> {
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

export async function filesIn(scan: Scan, sql: Sql): Promise<readonly ClawFile[]> {
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

export async function othersIn(scan: Scan): Promise<{ table: string; rows: number }[]> {
  const counts = OTHERS.map((table) => ({ table, rows: 0 }));
  for (const each of counts) await scan(each.table, "1", () => void each.rows++);
  return counts.filter(({ rows }) => rows > 0);
}
