// How steps would be stored if nobody asked whose session it is.
import type { Database, Statement } from "../database.ts";

const APPEND: Statement<never> = {
  name: "unfenced-append",
  text: `
    with own as (
      update session set head_seq = head_seq + 1, step = step + 1, last_entry = $2
      where agent_id = 'main' and key = $1 returning id, head_seq
    )
    insert into entry (agent_id, session_id, seq, entry_id, role, ts, body)
    select 'main', id, head_seq, $2, 1, 0, $3 from own`,
};

export async function unfencedAppend(database: Database, key: string, text: string): Promise<void> {
  const id = crypto.randomUUID();
  const message = { role: "user", content: text };
  const timestamp = new Date(0).toISOString();
  const entry = { type: "message", id, parentId: null, timestamp, message };
  await database.askOnce(APPEND, [key, id, JSON.stringify(entry)]);
}
