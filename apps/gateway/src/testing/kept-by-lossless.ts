// Reads what the lossless engine of a home keeps besides messages.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Rows as they are, but for what only binds them in their file. */
export interface KeptByLossless {
  messages: Record<string, unknown>[];
  summaries: Record<string, unknown>[];
  cuts: Record<string, unknown>[];
}

/** What stands for messages, and their numbers. */
export function keptByLossless(home: string): KeptByLossless {
  const file = join(home, "agents", "main", "clew-lossless", "lossless.db");
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const all = (sql: string) =>
      db
        .prepare(sql)
        .all()
        .map((row) => ({ ...row }));
    return {
      messages: all("SELECT seq, conversation, id, turn, role, time FROM message ORDER BY seq"),
      summaries: all(`
        SELECT id, conversation, depth, parent, first, last, messages, tokens, since, until, days,
          words, model, asked, created FROM summary ORDER BY id
      `),
      // Of several conversations whichever came first is first; each has them in its order.
      cuts: all(`
        SELECT conversation, name, first, request, ceiling, covered, parts, record
        FROM cut ORDER BY conversation, id
      `),
    };
  } finally {
    db.close();
  }
}
