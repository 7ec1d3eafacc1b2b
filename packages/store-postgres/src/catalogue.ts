// Lists, finds, names and removes sessions, whoever owns them.
import type { Database, Statement } from "./database.ts";
import { IS_FREE } from "./lease.ts";

/** What a list tells of a session. */
export interface StoredSummary {
  /** Whose session it is. */
  agentId: string;
  /** Its stable name. */
  key: string;
  /** Its current transcript. */
  sessionId: string;
  /** What people call it; null = nobody gave it a name but its key. */
  label: string | null;
  /** Of its entries, with a line feed each. */
  bytes: number;
  /** ms since the epoch; the last step. */
  changedAt: number;
  /** How many entries it has, of all branches. */
  head: number;
  /** The entry that the next one follows; null = there is none. */
  lastEntry: string | null;
  /** The first line of its file; null = nobody said. */
  header: string | null;
  /** Changes with each step. */
  step: number;
  /** Another one for each state of the kept reports that come before all others; null: none are. */
  base: string | null;
}

export interface SummaryRow {
  agent_id: string;
  key: string;
  id: string;
  label: string | null;
  bytes: number;
  changed_at: number;
  head_seq: number;
  last_entry: string | null;
  header: string | null;
  step: number;
  base: string | null;
}

export const SUMMARY = `
  s.agent_id, s.key, s.id, s.label, s.bytes::float8, s.head_seq::float8, s.last_entry, s.header,
  s.step::float8, s.base, (extract(epoch from s.changed_at) * 1000)::float8 as changed_at`;

/** Transcripts that engines begin have passing keys until a session moves to them. */
const LIST: Statement<SummaryRow> = {
  name: "session-list",
  text: `select ${SUMMARY} from session s where s.head_seq > 0 and s.key not like 'begun:%'`,
};

const FIND: Statement<SummaryRow> = {
  name: "session-find",
  text: `select ${SUMMARY} from session s where s.agent_id = $1 and s.key = $2`,
};

/**
 * The second part waits for the first, as it needs its row: the key is free then. What people call
 * it goes on with the key.
 */
const RENEW: Statement<{ id: string }> = {
  name: "session-renew",
  text: `
    with archived as (
      update session s set key = $4, turn = null
      where s.agent_id = $1 and s.key = $2 and s.head_seq > 0 and ${IS_FREE("s")}
      returning s.agent_id, s.label
    )
    insert into session (agent_id, id, key, label)
    select a.agent_id, $3, $2, a.label from archived a
    returning id`,
};

const UNLABEL: Statement<never> = {
  name: "session-unlabel",
  text: "update session set label = null where agent_id = $1 and key = $2",
};

const LABEL: Statement<{ id: string }> = {
  name: "session-label",
  text: "update session set label = $3 where agent_id = $1 and key = $2 returning id",
};

/** Whoever fills the search index holds the row: what it has written is seen by what follows. */
const HOLD: Statement<{ id: string }> = {
  name: "session-hold",
  text: "select id from session where agent_id = $1 and key = $2 for update",
};

/** By gateways that know nothing of it. */
const TELL_PARTS: Statement<never> = {
  name: "session-tell-parts",
  text: `
    with told as (
      update report set is_told = true where agent_id = $1 and not is_told
      returning agent_id, session_id, parts
    )
    insert into part_use (agent_id, session_id, hash)
    select distinct t.agent_id, t.session_id, p.hash from told t, unnest(t.parts) as p (hash)
    on conflict do nothing`,
};

/** In the order of steps. Whoever names one meanwhile waits, and stores it anew if it is gone. */
const HOLD_PARTS: Statement<{ hash: string }> = {
  name: "session-hold-parts",
  text: `
    select p.hash from session s
    join part_use u on u.agent_id = s.agent_id and u.session_id = s.id
    join part p on p.agent_id = u.agent_id and p.hash = u.hash
    where s.agent_id = $1 and s.key = $2 and ${IS_FREE("s")}
    order by p.hash collate "C" for update of p`,
};

/** Parts that another session names stay. */
const REMOVE: Statement<{ id: string; blobs: string[] }> = {
  name: "session-remove",
  text: `
    with gone as (
      delete from session s where s.agent_id = $1 and s.key = $2 and ${IS_FREE("s")}
      returning s.agent_id, s.id, s.key
    ), entries as (
      delete from entry e using gone g where e.agent_id = g.agent_id and e.session_id = g.id
      returning e.blob
    ), found as (
      delete from search x using gone g, entry e
      where e.agent_id = g.agent_id and e.session_id = g.id
        and x.agent_id = e.agent_id and x.ts = e.ts and x.session_id = e.session_id
        and x.seq = e.seq
    ), marks as (
      delete from search_mark m using gone g where m.agent_id = g.agent_id and m.session_id = g.id
    ), lines as (
      delete from delivery d using gone g where d.agent_id = g.agent_id and d.session_id = g.id
    ), reports as (
      delete from report r using gone g where r.agent_id = g.agent_id and r.session_id = g.id
    ), files as (
      delete from kept_file f using gone g where f.agent_id = g.agent_id and f.session_id = g.id
    ), engines as (
      delete from engine_row e using gone g where e.agent_id = g.agent_id and e.session_id = g.id
    ), names as (
      update copied c set label = null from gone g
      where c.agent_id = g.agent_id and c.session_id = g.id
    ), messages as (
      delete from inbox_row i using gone g where i.agent_id = g.agent_id and i.key = g.key
    ), started as (
      delete from child c using gone g where c.agent_id = g.agent_id and c.key = g.key
    ), uses as (
      delete from part_use u using gone g where u.agent_id = g.agent_id and u.session_id = g.id
      returning u.agent_id, u.session_id, u.hash
    ), parts as (
      delete from part p using uses u
      where p.agent_id = u.agent_id and p.hash = u.hash and not exists (
        select 1 from part_use o
        where o.agent_id = u.agent_id and o.hash = u.hash and o.session_id <> u.session_id
      )
      returning p.blob
    )
    select id, array(
      select blob from entries where blob is not null
      union select blob from parts where blob is not null
    ) as blobs
    from gone`,
};

const CLUSTER: Statement<{ id: string }> = {
  name: "cluster-id",
  text: "select id from cluster",
};

/** Sessions in which something was said. */
export const listSessions = async (database: Database): Promise<StoredSummary[]> =>
  (await database.ask(LIST, [])).map(summaryOf);

/** Also of one in which nothing was said yet. */
export async function findSession(
  database: Database,
  { agentId, key }: { agentId: string; key: string },
): Promise<StoredSummary | null> {
  const [row] = await database.ask(FIND, [agentId, key]);
  return row === undefined ? null : summaryOf(row);
}

/** False: somebody has it open, there is none, or nothing was said in it. */
export async function renewSession(
  database: Database,
  renewal: { agentId: string; key: string; sessionId: string; archivedKey: string },
): Promise<boolean> {
  const { agentId, key, sessionId, archivedKey } = renewal;
  const renewed = await database.ask(RENEW, [agentId, key, sessionId, archivedKey]);
  if (renewed.length > 0) {
    await database.ask(UNLABEL, [agentId, archivedKey]);
    return true;
  }
  // The answer to the first attempt may have been lost.
  return (await findSession(database, { agentId, key }))?.sessionId === sessionId;
}

/** False: there is no such session. */
export const labelSession = async (
  database: Database,
  { agentId, key, label }: { agentId: string; key: string; label: string | null },
): Promise<boolean> => (await database.ask(LABEL, [agentId, key, label])).length > 0;

/**
 * What each statement sees is to be what was stored before it, whatever the server's own setting.
 */
const SEES_NEWEST = "set transaction isolation level read committed";

/**
 * Hashes of what it had elsewhere; null: somebody has it open, or it is not there.
 */
export async function removeSession(
  database: Database,
  { agentId, key }: { agentId: string; key: string },
): Promise<{ blobs: string[] } | null> {
  const values = [agentId, key];
  const [, , , [row]] = await database.askAsOne<
    [{ id: string }, never, { hash: string }, { id: string; blobs: string[] }]
  >(
    [
      { statement: HOLD, values },
      { statement: TELL_PARTS, values: [agentId] },
      { statement: HOLD_PARTS, values },
      { statement: REMOVE, values },
    ],
    SEES_NEWEST,
  );
  return row === undefined ? null : { blobs: row.blobs };
}

/** Another one for each database. */
export async function clusterId(database: Database): Promise<string> {
  const [row] = await database.ask(CLUSTER, []);
  return row?.id ?? "";
}

export const summaryOf = (row: SummaryRow): StoredSummary => ({
  agentId: row.agent_id,
  key: row.key,
  sessionId: row.id,
  label: row.label,
  bytes: row.bytes,
  changedAt: row.changed_at,
  head: row.head_seq,
  lastEntry: row.last_entry,
  header: row.header,
  step: row.step,
  base: row.base,
});
