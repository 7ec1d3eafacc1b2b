// Stores what engines keep beside a session, unless the session is another gateway's by now.
import type { Database, Statement } from "./database.ts";

/** A row of an engine, under names that are the engine's own. */
export interface EngineRow {
  /** What sort of row it is. */
  readonly kind: string;
  /** Tells it from all others of its kind. */
  readonly key: string;
  /** JSON; null: the row is gone. */
  readonly body: string | null;
}

/** Whether rows are stored; "lost" = nothing is, as the session is not the caller's. */
export type RowsOutcome = "stored" | "lost";

interface OfEngine {
  agentId: string;
  sessionId: string;
  engine: string;
}

const LOAD: Statement<EngineRow> = {
  name: "engine-rows-load",
  text: `
    select kind, key, body from engine_row
    where agent_id = $1 and session_id = $2 and engine = $3 and body is not null
    order by kind, key`,
};

/** Of many sessions of an agent; what few of them have is found by their keys. */
const LOAD_OF_MANY: Statement<EngineRow & { session_id: string }> = {
  name: "engine-rows-of-many",
  text: `
    select r.session_id, r.kind, r.key, r.body
    from unnest($2::text[]) as s (id)
    join engine_row r on r.agent_id = $1 and r.session_id = s.id and r.engine = $3
    where r.body is not null order by r.session_id, r.kind, r.key`,
};

const HAS_ROWS: Statement<{ one: number }> = {
  name: "engine-rows-exist",
  text: `
    select 1 as one from session s
    where s.agent_id = $1 and s.key = $2 and exists (
      select 1 from engine_row r
      where r.agent_id = s.agent_id and r.session_id = s.id and r.engine = $3
    )`,
};

/**
 * Whoever claims the session waits for the lock on its row, or is waited for: what is stored was
 * stored before the claim. A statement that comes late changes no row that was written after it.
 */
const STORE: Statement<{ id: string }> = {
  name: "engine-rows-store",
  text: `
    with own as (
      select agent_id, id from session
      where agent_id = $1 and id = $2 and epoch = $3
      for share
    ), rows as (
      insert into engine_row as r (agent_id, session_id, engine, kind, key, epoch, step, body)
      select own.agent_id, own.id, $4, n.kind, n.key, $3, $5, n.body
      from own, unnest($6::text[], $7::text[], $8::text[]) as n (kind, key, body)
      on conflict (agent_id, session_id, engine, kind, key) do update
        set epoch = excluded.epoch, step = excluded.step, body = excluded.body
        where (r.epoch, r.step) < (excluded.epoch, excluded.step)
    )
    select id from own`,
};

/** Sent again it leaves a gap, which is nobody's. */
const RESERVE: Statement<{ first: number }> = {
  name: "numbers-reserve",
  text: `
    insert into numbering as n (kind, next) values ($1, $3::bigint + 1 + $2::bigint)
    on conflict (kind) do update set next = greatest(n.next, $3::bigint + 1) + $2::bigint
    returning (next - $2::bigint)::float8 as first`,
};

/** Those that are there, in one order for everybody. */
export const loadRows = (
  database: Database,
  { agentId, sessionId, engine }: OfEngine,
): Promise<EngineRow[]> => database.ask(LOAD, [agentId, sessionId, engine]);

/** The same of several sessions of an agent, each of those that have some. */
export async function loadRowsOfMany(
  database: Database,
  { agentId, sessionIds, engine }: { agentId: string; sessionIds: string[]; engine: string },
): Promise<Map<string, EngineRow[]>> {
  const all = new Map<string, EngineRow[]>();
  for (const { session_id: id, ...row } of await database.ask(LOAD_OF_MANY, [
    ...[agentId, sessionIds, engine],
  ])) {
    const rows = all.get(id) ?? [];
    rows.push(row);
    all.set(id, rows);
  }
  return all;
}

/** False also of a session that is not there. */
export const hasRows = async (
  database: Database,
  { agentId, key, engine }: { agentId: string; key: string; engine: string },
): Promise<boolean> => (await database.ask(HAS_ROWS, [agentId, key, engine])).length > 0;

/** Of two rows of one name the last one counts. */
export async function storeRows(
  database: Database,
  { agentId, sessionId, engine, epoch, step }: OfEngine & { epoch: number; step: number },
  rows: readonly EngineRow[],
): Promise<RowsOutcome> {
  const named = new Map(rows.map((row) => [JSON.stringify([row.kind, row.key]), row]));
  // In one order, so that two statements never wait for each other.
  const all = [...named].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const each = all.map(([, row]) => row);
  const stored = await database.ask(STORE, [
    ...[agentId, sessionId, epoch, engine, step],
    ...[each.map(({ kind }) => kind), each.map(({ key }) => key), each.map(({ body }) => body)],
  ]);
  return stored.length > 0 ? "stored" : "lost";
}

/** The first of the numbers. */
export async function reserveNumbers(
  database: Database,
  kind: string,
  { count, above }: { count: number; above: number },
): Promise<number> {
  const [row] = await database.ask(RESERVE, [kind, count, above]);
  return row?.first ?? above + 1;
}
