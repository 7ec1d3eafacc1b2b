// Tells which sessions of an agent something was added to.
import type { Database, Statement } from "./database.ts";

/** A session to which something was added. */
export interface ChangedSession {
  /** Of its transcript. */
  sessionId: string;
  /** Its name, as it was when it was last written to. */
  key: string;
  /** ms since the epoch, by the database's clock. */
  changedAt: number;
}

/** Transcripts that engines begin have passing keys until a session moves to them. */
const CHANGED: Statement<{ id: string; key: string; changed_at: number }> = {
  name: "sessions-changed",
  text: `
    select id, key, (extract(epoch from changed_at) * 1000)::float8 as changed_at from session
    where agent_id = $1 and changed_at >= to_timestamp($2::float8 / 1000)
      and head_seq > 0 and key not like 'begun:%'
    order by changed_at desc`,
};

/** At or after `since`, newest first. */
export async function changedSessions(
  database: Database,
  { agentId, since }: { agentId: string; since: number },
): Promise<ChangedSession[]> {
  const rows = await database.ask(CHANGED, [agentId, since]);
  return rows.map(({ id: sessionId, key, changed_at: changedAt }) => ({
    ...{ sessionId, key, changedAt },
  }));
}
