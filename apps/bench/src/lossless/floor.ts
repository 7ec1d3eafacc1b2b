// What SQLite alone takes to store, show and find messages, without being an engine.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { blocksOf } from "@clew/plugin-sdk/transcript";
import { type Contestant, MOST_HITS, TOKEN_BUDGET } from "./contestant.ts";

/** Messages that an assembly shows. */
const TAIL = 64;

/**
 * One row for each message, its words in a full-text index, one transaction a turn, prepared
 * statements, the newest 64 messages shown: no duplicates found, no pairs kept, no literal found by
 * an index. A bound, not a rival.
 */
export function openFloor(folder: string): Contestant {
  const db = new DatabaseSync(join(folder, "floor.db"));
  db.exec(`
    PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;
    CREATE TABLE IF NOT EXISTS message
      (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, tokens INTEGER NOT NULL, body TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS message_session ON message (session, id);
    CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (body, content = '', tokenize = 'porter unicode61');
  `);
  const insert = db.prepare("INSERT INTO message (session, tokens, body) VALUES (1, ?, ?)");
  const index = db.prepare("INSERT INTO words (rowid, body) VALUES (?, ?)");
  const tail = db.prepare(
    "SELECT tokens, body FROM message WHERE session = 1 ORDER BY id DESC LIMIT ?",
  );
  const newestFirst = db.prepare("SELECT body FROM message WHERE session = 1 ORDER BY id DESC");
  const withWords = db.prepare(`
    SELECT message.body FROM words JOIN message ON message.id = words.rowid
    WHERE words MATCH ? ORDER BY words.rowid DESC LIMIT ?
  `);
  return {
    async hostWrites() {},
    async tell(messages) {
      db.exec("BEGIN IMMEDIATE");
      for (const message of messages) {
        const body = JSON.stringify(message);
        const { lastInsertRowid } = insert.run(Math.ceil(body.length / 4), body);
        index.run(lastInsertRowid, textsOf(message));
      }
      db.exec("COMMIT");
    },
    async tidy() {},
    async assemble() {
      let left = TOKEN_BUDGET;
      const shown: AgentMessage[] = [];
      for (const { tokens, body } of tail.iterate(TAIL)) {
        left -= Number(tokens);
        if (left < 0) break;
        shown.unshift(JSON.parse(String(body)));
      }
      return shown.length;
    },
    async search({ mode, pattern }) {
      if (mode === "full_text")
        return withWords
          .all(`"${pattern}"`, MOST_HITS)
          .map(({ body }) => around(String(body), String(body).indexOf(pattern)))
          .join("\n");
      const hits: string[] = [];
      const expression = new RegExp(pattern, "i");
      for (const { body } of newestFirst.iterate()) {
        const found = expression.exec(String(body));
        if (found !== null) hits.push(around(String(body), found.index));
        if (hits.length >= MOST_HITS) break;
      }
      return hits.join("\n");
    },
    async close() {
      db.close();
    },
  };
}

const SNIPPET = 200;
const around = (text: string, at: number) =>
  text.slice(Math.max(0, at - SNIPPET / 2), at + SNIPPET / 2);

const textsOf = (message: AgentMessage): string =>
  "content" in message
    ? blocksOf(message.content)
        .map((block) => block.text ?? (block.arguments ? JSON.stringify(block.arguments) : ""))
        .join("\n")
    : "";
