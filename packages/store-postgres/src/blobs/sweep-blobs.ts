// Takes away what is kept elsewhere and no row names any more.
import type { Database, Statement } from "../database.ts";

/** What a sweep took away. */
export interface SweptBlobs {
  /** How many. */
  dropped: number;
  /** Of them. */
  bytes: number;
}

interface MarkedRow {
  agent_id: string;
  hash: string;
  size: number;
}

/** Whoever began to take it away so long ago does not do it any more. */
const GIVEN_UP = "1 day";
/** What was marked earlier than this is left to a later sweep, ms. */
const HOLDS_MS = 10 * 60_000;
const ROWS_AT_A_TIME = 1000;

const IS_NAMED = `
  (exists (select 1 from entry e where e.agent_id = b.agent_id and e.blob = b.hash)
    or exists (select 1 from part p where p.agent_id = b.agent_id and p.blob = b.hash))`;

/**
 * `uses` is as it was seen together with the rows that name it: whoever is about to name it has
 * counted it up, and it stays.
 */
const MARK = (free: string): string => `
    update blob b set dropping = now() from ${free} f
    where b.agent_id = f.agent_id and b.hash = f.hash and b.uses = f.uses
      and (b.dropping is null or b.dropping < now() - interval '${GIVEN_UP}')
    returning b.agent_id, b.hash, b.size::float8`;

/** Looks at so many behind a place; also says where it ended. */
const MARK_OLD: Statement<MarkedRow & { last_agent: string; last_hash: string; seen: number }> = {
  name: "blob-mark-old",
  text: `
    with seen as (
      select b.* from blob b where (b.agent_id, b.hash) > ($1, $2)
      order by b.agent_id, b.hash limit ${ROWS_AT_A_TIME}
    ), free as (
      select b.agent_id, b.hash, b.uses from seen b
      where (b.dropping is null and b.at < now() - $3::float8 * interval '1 millisecond'
          and not ${IS_NAMED})
        or b.dropping < now() - interval '${GIVEN_UP}'
    ), marked as (${MARK("free")})
    select m.agent_id, m.hash, m.size, l.agent_id as last_agent, l.hash as last_hash, c.seen
    from (select count(*)::int as seen from seen) c
    left join (select agent_id, hash from seen order by agent_id desc, hash desc limit 1) l on true
    left join marked m on true`,
};

const MARK_THESE: Statement<MarkedRow> = {
  name: "blob-mark-these",
  text: `
    with free as (
      select b.agent_id, b.hash, b.uses from blob b
      where b.agent_id = $1 and b.hash = any ($2::text[]) and b.dropping is null and not ${IS_NAMED}
    )
    ${MARK("free")}`,
};

const GONE: Statement<never> = {
  name: "blob-gone",
  text: `
    delete from blob
    where agent_id = $1 and hash = any ($2::text[]) and dropping is not null`,
};

/**
 * Those that nobody was about to name for `olderThanMs`. Nothing where there is no such place; may
 * run on several gateways at once. Throws STORAGE_FAILED, and a later sweep goes on.
 */
export async function sweepBlobs(
  database: Database,
  { olderThanMs, signal }: { olderThanMs: number; signal?: AbortSignal | undefined },
): Promise<SweptBlobs> {
  const swept: SweptBlobs = { dropped: 0, bytes: 0 };
  if (database.blobs === undefined) return swept;
  for (let after = ["", ""]; signal?.aborted !== true; ) {
    const markedAt = performance.now();
    const rows = await database.ask(MARK_OLD, [...after, olderThanMs]);
    const [first] = rows;
    if (first === undefined || first.seen === 0) break;
    // Without one that is marked there is one row all the same.
    await drop(
      database,
      rows.filter(({ hash }) => hash !== null),
      { markedAt, signal },
      swept,
    );
    if (first.seen < ROWS_AT_A_TIME) break;
    after = [first.last_agent, first.last_hash];
  }
  return swept;
}

/** Of those the ones that no row names now, however new. */
export async function dropUnnamed(
  database: Database,
  agentId: string,
  hashes: readonly string[],
): Promise<SweptBlobs> {
  const swept: SweptBlobs = { dropped: 0, bytes: 0 };
  if (database.blobs === undefined || hashes.length === 0) return swept;
  const markedAt = performance.now();
  const rows = await database.ask(MARK_THESE, [agentId, hashes]);
  await drop(database, rows, { markedAt, signal: undefined }, swept);
  return swept;
}

const DROPPED_AT_A_TIME = 100;

/** The objects first: a name is free again when nothing can take its object away any more. */
async function drop(
  database: Database,
  rows: readonly MarkedRow[],
  { markedAt, signal }: { markedAt: number; signal: AbortSignal | undefined },
  swept: SweptBlobs,
): Promise<void> {
  for (const [agentId, own] of Map.groupBy(rows, ({ agent_id }) => agent_id))
    for (let at = 0; at < own.length; at += DROPPED_AT_A_TIME) {
      if (signal?.aborted || performance.now() - markedAt > HOLDS_MS) return;
      const some = own.slice(at, at + DROPPED_AT_A_TIME);
      const hashes = some.map(({ hash }) => hash);
      await database.blobs?.port.drop(agentId, hashes);
      await database.ask(GONE, [agentId, hashes]);
      swept.dropped += some.length;
      swept.bytes += some.reduce((sum, { size }) => sum + size, 0);
    }
}
