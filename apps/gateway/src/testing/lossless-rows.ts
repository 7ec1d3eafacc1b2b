// Reads what the lossless engine stored, without the engine.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AgentMessage } from "@clew/plugin-sdk/core";

/** A stored message under its id. */
export interface LosslessRow {
  id: string;
  /** A session that moved to where nothing known stood has two. */
  conversation: number;
  message: AgentMessage;
}

/** In the order in which they came; none where there is no database. Throws if it is broken. */
export function losslessRows(home: string, agentId = "main"): LosslessRow[] {
  const file = join(home, "agents", agentId, "clew-lossless", "lossless.db");
  if (!existsSync(file)) return [];
  const db = new DatabaseSync(file);
  try {
    const [health] = db.prepare("PRAGMA integrity_check").all();
    if (health?.integrity_check !== "ok") throw new Error(`broken: ${JSON.stringify(health)}`);
    const texts = db.prepare(
      "SELECT place, text FROM payload_use JOIN payload ON payload.id = payload WHERE message = ?",
    );
    const hasTables = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'message'").get();
    if (hasTables === undefined) return [];
    return db
      .prepare("SELECT seq, conversation, id, body FROM message ORDER BY seq")
      .all()
      .map(({ seq, conversation, id, body }) => {
        const message: unknown = JSON.parse(String(body));
        for (const { place, text } of texts.all(Number(seq)))
          putBack(message, JSON.parse(String(place)) as (string | number)[], String(text));
        const of = { id: String(id), conversation: Number(conversation) };
        return { ...of, message: message as AgentMessage };
      });
  } finally {
    db.close();
  }
}

function putBack(message: unknown, place: (string | number)[], text: string): void {
  let at = message as Record<string | number, unknown>;
  for (const key of place.slice(0, -1)) at = at[key] as Record<string | number, unknown>;
  at[place.at(-1)!] = text;
}
