// Builds a database as lossless-claw writes it, with the tables that are read of it.
import { writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { blocksOf, textOf } from "@clew/plugin-sdk/transcript";

const TABLES = `
  CREATE TABLE conversations (
    conversation_id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, session_key TEXT,
    active INTEGER NOT NULL DEFAULT 1, archived_at TEXT, bootstrapped_at TEXT
  );
  CREATE TABLE messages (
    message_id INTEGER PRIMARY KEY, conversation_id INTEGER NOT NULL, seq INTEGER NOT NULL,
    role TEXT NOT NULL, content TEXT NOT NULL, token_count INTEGER NOT NULL, identity_hash TEXT,
    transcript_entry_id TEXT, stable_event_key TEXT, large_content TEXT, created_at TEXT NOT NULL,
    UNIQUE (conversation_id, seq)
  );
  CREATE TABLE message_parts (
    part_id TEXT PRIMARY KEY, message_id INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    part_type TEXT NOT NULL, text_content TEXT, tool_call_id TEXT, tool_name TEXT, tool_input TEXT,
    tool_output TEXT, metadata TEXT, UNIQUE (message_id, ordinal)
  );
  CREATE TABLE summaries (
    summary_id TEXT PRIMARY KEY, conversation_id INTEGER NOT NULL, kind TEXT NOT NULL,
    depth INTEGER NOT NULL, content TEXT NOT NULL, token_count INTEGER NOT NULL, earliest_at TEXT,
    latest_at TEXT, model TEXT, file_ids TEXT
  );
  CREATE TABLE summary_messages (summary_id TEXT, message_id INTEGER, ordinal INTEGER);
  CREATE TABLE summary_parents (summary_id TEXT, parent_summary_id TEXT, ordinal INTEGER);
  CREATE TABLE context_items (
    conversation_id INTEGER, ordinal INTEGER, item_type TEXT, message_id INTEGER, summary_id TEXT
  );
  CREATE TABLE large_files (
    file_id TEXT PRIMARY KEY, conversation_id INTEGER NOT NULL, mime_type TEXT, byte_size INTEGER,
    storage_uri TEXT NOT NULL
  );
  CREATE TABLE focus_briefs (brief_id TEXT PRIMARY KEY);
`;

const ROLES: Readonly<Record<string, string>> = { toolResult: "tool" };
const BEGUN = Date.UTC(2026, 0, 1);

/** A database that is being built. */
export interface ClawDatabase {
  readonly db: DatabaseSync;
  /** Its number. */
  conversation(sessionId: string, sessionKey: string | null, isActive?: boolean): number;
  /** Their numbers; with ids of entries where `entryId` gives some. */
  say(
    conversation: number,
    messages: readonly AgentMessage[],
    entryId?: (at: number) => string | null,
  ): number[];
  /** A text that was moved to a file, and the message whose result refers to it. */
  moveOut(request: { conversation: number; message: number; file: string; text: string }): string;
  summary(request: {
    id: string;
    conversation: number;
    depth: number;
    content: string;
    of: readonly (number | string)[];
  }): void;
}

/** Tables are of its newest versions. The caller closes it. */
export function buildLosslessClaw(path: string, { journal = "DELETE" } = {}): ClawDatabase {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA journal_mode = ${journal}; PRAGMA synchronous = OFF;`);
  db.exec(TABLES);
  let seconds = 0;
  const insert = (table: string, row: Record<string, string | number | null>) =>
    Number(
      db
        .prepare(
          `INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${Object.keys(row)
            .map(() => "?")
            .join(", ")})`,
        )
        .run(...Object.values(row)).lastInsertRowid,
    );
  return {
    db,
    conversation: (session_id, session_key, isActive = true) =>
      insert("conversations", { session_id, session_key, active: isActive ? 1 : 0 }),
    say: (conversation, messages, entryId = () => null) =>
      messages.map((message, at) => {
        const { rows } = db
          .prepare("SELECT count(*) AS rows FROM messages WHERE conversation_id = ?")
          .get(conversation) as { rows: number };
        const time = new Date(BEGUN + 1_000 * seconds++).toISOString();
        const id = insert("messages", {
          conversation_id: conversation,
          seq: rows + 1,
          role: ROLES[message.role] ?? message.role,
          content: textOf(message),
          token_count: 1,
          transcript_entry_id: entryId(at),
          created_at: time.slice(0, 19).replace("T", " "),
        });
        for (const [ordinal, part] of partsOf(message).entries())
          insert("message_parts", {
            part_id: `${id}-${ordinal}`,
            message_id: id,
            ordinal,
            ...part,
          });
        return id;
      }),
    moveOut({ conversation, message, file, text }) {
      writeFileSync(file, text);
      const id = `file_${message}`;
      insert("large_files", {
        file_id: id,
        conversation_id: conversation,
        mime_type: "text/plain",
        byte_size: Buffer.byteLength(text),
        storage_uri: file,
      });
      const reference = `[LCM Tool Output: ${id}]`;
      const metadata = {
        ...{ originalRole: "toolResult", rawType: "tool_result" },
        raw: { type: "text", text: reference },
        ...{ externalizedFileId: id, toolOutputExternalized: true },
      };
      db.prepare(
        "UPDATE message_parts SET text_content = ?, metadata = ? WHERE message_id = ? AND ordinal = 0",
      ).run(reference, JSON.stringify(metadata), message);
      return id;
    },
    summary({ id, conversation, depth, content, of }) {
      const times = { earliest_at: "2026-01-01 00:00:00", latest_at: "2026-01-01 01:00:00" };
      insert("summaries", {
        ...{ summary_id: id, conversation_id: conversation, depth, content, token_count: 1 },
        ...{ kind: depth === 0 ? "leaf" : "condensed", model: "some-model", ...times },
      });
      for (const [ordinal, source] of of.entries())
        if (typeof source === "number")
          insert("summary_messages", { summary_id: id, message_id: source, ordinal });
        else insert("summary_parents", { summary_id: id, parent_summary_id: source, ordinal });
    },
  };
}

type Part = Record<string, string | null>;

function partsOf(message: AgentMessage): Part[] {
  const blocks = "content" in message ? blocksOf(message.content) : [];
  return blocks.map((raw): Part => {
    const { type } = raw;
    const isCall = type === "toolCall";
    const isResult = message.role === "toolResult";
    return {
      part_type: isCall || isResult ? "tool" : type === "thinking" ? "reasoning" : "text",
      text_content: type === "text" ? String(raw.text) : null,
      tool_call_id: isCall ? String(raw.id) : isResult ? message.toolCallId : null,
      tool_name: isCall ? String(raw.name) : isResult ? message.toolName : null,
      tool_input: isCall ? JSON.stringify(raw.arguments) : null,
      tool_output: isResult && type === "text" ? String(raw.text) : null,
      metadata: JSON.stringify({ originalRole: message.role, rawType: type, raw }),
    };
  });
}
