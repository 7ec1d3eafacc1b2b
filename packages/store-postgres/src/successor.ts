// Moves a session's key to another transcript of the same agent.
import type { Database, Statement } from "./database.ts";

const BEGIN: Statement<{ key: string }> = {
  name: "successor-begin",
  text: `
    with fresh as (
      insert into session (agent_id, id, key) values ($1, $2, $3) on conflict do nothing
    )
    select key from session where agent_id = $1 and id = $2`,
};

/**
 * The second update waits for the first, as it needs its row: the key is free then. Whoever sends
 * it again finds that the session is there already.
 */
const MOVE: Statement<{ id: string }> = {
  name: "successor-move",
  text: `
    with left_behind as (
      update session set key = $5, turn = null
      where agent_id = $1 and id = $2 and key = $4
      returning agent_id
    )
    update session s set key = $4 from left_behind l
    where s.agent_id = l.agent_id and s.id = $3
    returning s.id`,
};

const WHO_HAS: Statement<{ id: string }> = {
  name: "successor-look",
  text: "select id from session where agent_id = $1 and key = $2",
};

/** Makes it unless it is there; gives its key. */
export async function begin(
  database: Database,
  { agentId, sessionId }: { agentId: string; sessionId: string },
): Promise<string> {
  const key = `begun:${sessionId}`;
  const [row] = await database.ask(BEGIN, [agentId, sessionId, key]);
  return row?.key ?? key;
}

/** False: the session has another transcript by now. */
export async function moveTo(
  database: Database,
  move: { agentId: string; from: string; to: string; key: string; archivedKey: string },
): Promise<boolean> {
  const { agentId, from, to, key, archivedKey } = move;
  const moved = await database.ask(MOVE, [agentId, from, to, key, archivedKey]);
  if (moved.length > 0) return true;
  const [row] = await database.ask(WHO_HAS, [agentId, key]);
  return row?.id === to;
}
