// Decides who may write a session, and finds the sessions that nobody continues.
import type { OpenRange } from "./branch.ts";
import type { Database, Question, Statement } from "./database.ts";
import { LIVES } from "./node.ts";

/** The right to write a session, until somebody else claims it. */
export interface Lease {
  readonly agentId: string;
  readonly sessionId: string;
  readonly key: string;
  readonly epoch: number;
}

/** A session as its row says it. */
export interface SessionRow {
  agent_id: string;
  id: string;
  key: string;
  epoch: number;
  step: number;
  head_seq: number;
  last_entry: string | null;
  head_line: number;
  branch: OpenRange[];
  turn: string | null;
  header: string | null;
  base: string | null;
}

/** What is asked of a session's row; numbers are small enough for JavaScript's. */
const ROW = (row: string): string => `
  ${row}.agent_id, ${row}.id, ${row}.key, ${row}.epoch::float8, ${row}.step::float8,
  ${row}.head_seq::float8, ${row}.last_entry, ${row}.head_line::float8, ${row}.branch, ${row}.turn,
  ${row}.header, ${row}.base`;

/** SQL that is true when nobody who lives owns the session. */
export const IS_FREE = (row: string): string => `
  (${row}.owner is null
    or not exists (select 1 from node n where n.id = ${row}.owner and ${LIVES("n")}))`;

/**
 * A key without a session gets one. Whoever owns it already claims it anew: the answer to the first
 * claim may have been lost, and its process does not claim what it has open.
 */
const CLAIM: Statement<SessionRow> = {
  name: "session-claim",
  text: `
    insert into session as s (agent_id, id, key, owner, epoch) values ($1, $2, $3, $4, 1)
    on conflict (agent_id, key) do update
      set owner = $4, epoch = s.epoch + 1
      where s.owner = $4 or ${IS_FREE("s")}
    returning ${ROW("s")}`,
};

const OWNER: Statement<{ id: string; address: string | null }> = {
  name: "session-owner",
  text: `
    select s.id, n.address from session s
    left join node n on n.id = s.owner and ${LIVES("n")}
    where s.agent_id = $1 and s.key = $2`,
};

/** Of many sessions at once, in their order; `$3` names a message of each, or is null. */
const STANDING: Statement<{ address: string | null; in_turn: boolean; kept: boolean }> = {
  name: "session-standing",
  text: `
    select n.address, coalesce(s.turn is not null, false) as in_turn,
      exists (
        select 1 from inbox i where i.agent_id = a.agent_id and i.key = a.key and i.id = a.name
      ) as kept
    from unnest($1::text[], $2::text[], $3::text[]) with ordinality
      as a (agent_id, key, name, place)
    left join session s on s.agent_id = a.agent_id and s.key = a.key
    left join node n on n.id = s.owner and ${LIVES("n")}
    order by a.place`,
};

const RELEASE: Statement<never> = {
  name: "session-release",
  text: `
    update session set owner = null
    where agent_id = $1 and id = $2 and owner = $3 and epoch = $4`,
};

/**
 * Nodes that took in messages, each found from the one before, and those of them whose messages are
 * this node's ($1) to see to: its own, and of nodes that do not live.
 */
const DUE_NODES = `
    takers as (
      (select i.node from inbox i order by i.node limit 1)
      union all
      select (select i.node from inbox i where i.node > t.node order by i.node limit 1)
      from takers t where t.node is not null
    ), due as materialized (
      select t.node from takers t
      where t.node is not null
        and (t.node = $1 or not exists (select 1 from node n where n.id = t.node and ${LIVES("n")}))
    )`;

/** Messages of such nodes; a limit keeps the plan from reading all messages there are. */
const DUE_MESSAGES = `
    due d cross join lateral (
      select i.agent_id, i.key, i.id, i.at, i.place from inbox i
      where i.node = d.node order by i.at, i.place limit 1000
    ) i`;

/**
 * Sessions with work that nobody does; `$3` names those that this node looks after already. Each
 * kind of work is found by an index of its own. One that is its own keeps its epoch: it may be
 * opened in this moment. The number says how few there are at most, which a parameter would not.
 */
const SWEEP: Statement<SweptRow> = {
  name: "session-sweep",
  text: `
    with recursive ${DUE_NODES}, work as materialized (
      select w.agent_id, w.id from (
          select t.agent_id, t.id, t.key, t.owner from session t where t.turn is not null
          union
          select m.agent_id, m.id, m.key, m.owner
          from ${DUE_MESSAGES} cross join lateral (
            select s.agent_id, s.id, s.key, s.owner from session s
            where s.agent_id = i.agent_id and s.key = i.key limit 1
          ) m
        ) w
      where w.key <> all ($3::text[]) and (${IS_FREE("w")} or w.owner = $1)
      limit 100
    )
    update session s
    set owner = $1, epoch = case when s.owner = $1 then s.epoch else s.epoch + 1 end
    from (select agent_id, id from work limit $2) w
    where s.agent_id = w.agent_id and s.id = w.id and (${IS_FREE("s")} or s.owner = $1)
    returning s.agent_id, s.key, s.turn`,
};

/** A session that this node has claimed. */
interface SweptRow {
  agent_id: string;
  key: string;
  turn: string | null;
}

/**
 * Messages for sessions of this node, and for such as are not there yet. Where no message waits,
 * its sessions are not looked at.
 */
const DUE: Statement<{ agent_id: string; key: string; id: string }> = {
  name: "inbox-due",
  text: `
    with recursive ${DUE_NODES}
    select f.agent_id, f.key, f.id from (
      select i.agent_id, i.key, i.id, i.at, i.place
      from session s cross join lateral (
        select i.agent_id, i.key, i.id, i.at, i.place from inbox i
        where i.agent_id = s.agent_id and i.key = s.key order by i.place limit 1000
      ) i
      where s.owner = $1 and (select t.node from takers t limit 1) is not null
      union all
      select i.agent_id, i.key, i.id, i.at, i.place
      from ${DUE_MESSAGES}
      where (
        select s.id from session s where s.agent_id = i.agent_id and s.key = i.key
      ) is null
    ) f
    order by f.at, f.place
    limit 1000`,
};

/** Of the session with this key. `id` is of the session that a new key gets. */
export const claimQuestion = (
  { agentId, key, id }: { agentId: string; key: string; id: string },
  nodeId: string,
): Question<SessionRow> => ({ statement: CLAIM, values: [agentId, id, key, nodeId] });

/** Address of the living node that has it; null: nobody has. */
export async function ownerOf(
  database: Database,
  { agentId, key }: { agentId: string; key: string },
): Promise<string | null> {
  const [row] = await database.ask(OWNER, [agentId, key]);
  return row?.address ?? null;
}

/** How sessions stand, in the order they are asked for. */
export async function standings(
  database: Database,
  asked: readonly { agentId: string; key: string; message: string | null }[],
): Promise<{ address: string | null; inTurn: boolean; isKept: boolean }[]> {
  const rows = await database.ask(STANDING, [
    asked.map(({ agentId }) => agentId),
    asked.map(({ key }) => key),
    asked.map(({ message }) => message),
  ]);
  return rows.map(({ address, in_turn: inTurn, kept: isKept }) => ({ address, inTurn, isKept }));
}

export async function release(database: Database, lease: Lease, nodeId: string): Promise<void> {
  await database.ask(RELEASE, [lease.agentId, lease.sessionId, nodeId, lease.epoch]);
}

/** At most `limit` sessions, claimed, and the messages that this node is to say. */
export async function sweep(
  database: Database,
  { nodeId, limit, known }: { nodeId: string; limit: number; known: readonly string[] },
): Promise<{ sessions: SweptRow[]; messages: { agent_id: string; key: string; id: string }[] }> {
  const [sessions, messages] = await database.askTogether<
    [SweptRow, { agent_id: string; key: string; id: string }]
  >([
    { statement: SWEEP, values: [nodeId, limit, known] },
    { statement: DUE, values: [nodeId] },
  ]);
  return { sessions, messages };
}

export const leaseOf = (row: SessionRow): Lease => ({
  agentId: row.agent_id,
  sessionId: row.id,
  key: row.key,
  epoch: row.epoch,
});
