// Takes the names of sessions of which nothing is left out of a database.
import { unnameTranscript } from "./forget.ts";
import { FLAGS } from "./rows.ts";
import type { Sql } from "./sql.ts";

/** Of all sessions that a database has. */
export const sessionNames = (sql: Sql): ReadonlySet<string> =>
  new Set(sql("SELECT * FROM transcript").all().map(nameIn));

/** Those of conversations in which these messages were the last, but for the names in `kept`. */
export function unnameEmptied(
  sql: Sql,
  numbers: readonly number[],
  kept: ReadonlySet<string>,
): void {
  const transcripts = sql(`
    SELECT * FROM transcript WHERE conversation IN (
      SELECT conversation FROM message WHERE seq IN (SELECT value FROM json_each(?))
    ) AND NOT EXISTS (
      SELECT 1 FROM message WHERE message.conversation = transcript.conversation
        AND flags & ${FLAGS.forgotten} = 0
    )
  `).all(JSON.stringify(numbers));
  for (const row of transcripts) if (!kept.has(nameIn(row))) unnameTranscript(sql, Number(row.id));
}

const nameIn = ({ session_id, session_key }: Record<string, unknown>) =>
  JSON.stringify([session_id, session_key]);
