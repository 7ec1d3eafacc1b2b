// Lets a damaged row be replaced by whoever tells of its message again.
import { FLAGS } from "./rows.ts";
import type { Sql } from "./store.ts";

/**
 * What was only seen is replaced by what is told. Every search looks at the row itself, to say that
 * it cannot be read, and the session's file is read again as a whole.
 */
export function markRow(sql: Sql, seq: number): void {
  sql("UPDATE message SET flags = flags | ? WHERE seq = ?").run(FLAGS.seen, seq);
  sql("INSERT OR IGNORE INTO unindexed (message) VALUES (?)").run(seq);
  sql(`
    DELETE FROM cursor WHERE transcript IN (
      SELECT transcript.id FROM transcript JOIN message USING (conversation) WHERE message.seq = ?
    )
  `).run(seq);
}
