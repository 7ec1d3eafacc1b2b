// Reads how many sessions begin by one statement, for lists.
import type { Database, Statement } from "./database.ts";

/** How a session begins. */
export interface Beginning {
  /** Lines of its first messages of people and models; one that is very large is "". */
  said: string[];
  /** Bodies of the first rows of the engine that was asked for. */
  rows: string[];
}

/** Messages before the first reply, and that one, as a rule. */
const FIRST = 8;
const MOST_BYTES = 256 * 2 ** 10;

const BEGINNINGS: Statement<{ n: number; is_row: boolean; at: number; body: string }> = {
  name: "session-beginnings",
  text: `
    with asked as (
      select n, agent_id, id
      from unnest($1::text[], $2::text[]) with ordinality as a (agent_id, id, n)
    )
    select a.n::float8, false as is_row, e.seq::float8 as at, e.body
    from asked a join lateral (
      select seq,
        case when blob is null and octet_length(body) <= ${MOST_BYTES} then body else '' end as body
      from entry where agent_id = a.agent_id and session_id = a.id and role in (1, 2)
      order by seq limit ${FIRST}
    ) e on true
    union all
    select a.n::float8, true, row_number() over (partition by a.n order by r.key)::float8, r.body
    from asked a join lateral (
      select key, body from engine_row
      where agent_id = a.agent_id and session_id = a.id and engine = $3 and body is not null
      order by kind, key limit ${FIRST}
    ) r on true`,
};

/** Of each session, in their order. */
export async function readBeginnings(
  database: Database,
  sessions: readonly { agentId: string; sessionId: string }[],
  engine: string,
): Promise<Beginning[]> {
  const found = sessions.map((): Beginning => ({ said: [], rows: [] }));
  const values = [
    sessions.map(({ agentId }) => agentId),
    sessions.map(({ sessionId }) => sessionId),
    engine,
  ];
  const rows = await database.ask(BEGINNINGS, values);
  for (const { n, is_row: isRow, body } of rows.toSorted((one, other) => one.at - other.at))
    found[n - 1]![isRow ? "rows" : "said"].push(body);
  return found;
}
