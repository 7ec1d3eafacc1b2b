// Stores what a session has in files, all of it or nothing.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { asIs, type PlacedBody, putBodies, TOUCHED } from "../blobs/put-bodies.ts";
import type { OpenRange } from "../branch.ts";
import type { AskInside, Database, Statement } from "../database.ts";
import { storageFailed } from "../failure.ts";
import { passes, RETRIES, waitBefore } from "../passing.ts";
import type { EntryRow } from "../step.ts";
import { type FileToKeep, keepFile } from "./kept-files.ts";
import { putEngineRows, type RowsToPut } from "./put-engine-rows.ts";

/** An entry as its line says it, and the SHA-256 of that. */
export interface CopiedEntry extends EntryRow {
  /** In hex. */
  hash: string;
}

/** What both sides have once a session is copied. */
export interface CopyRecord {
  /** Whose session it is. */
  agentId: string;
  /** Its transcript. */
  sessionId: string;
  /** Of all its files. */
  print: string;
  /** Its name in files. */
  key: string;
  /** What people call it there; null: nothing. */
  label: string | null;
  /** SHA-256 of what engines have beside it there; null: nothing, or nobody looked. */
  rows: string | null;
}

/** A session as files have it, ready to be stored. */
export interface SessionToPut {
  /** Its name. */
  key: string;
  /** What people call it; null: nothing. */
  label: string | null;
  /** How many of its entries are stored already. */
  stored: number;
  /** The others, some at a time; may be asked again. */
  entries(): AsyncIterable<readonly CopiedEntry[]>;
  /** How many it has in all. */
  head: number;
  /** The entry that the next one follows; null: there is none. */
  lastEntry: string | null;
  /** Places of its branch. */
  branch: readonly OpenRange[];
  /** The first line of its file; null: it has none. */
  header: string | null;
  /** Of its entries, with a line feed each. */
  bytes: number;
  /** ms since the epoch. */
  changedAt: number;
  /** What engines acknowledged, behind what is stored. */
  deliveries: readonly { engineId: string; change: string }[];
  /** Its files; those of other homes that are of use elsewhere go. */
  files: readonly FileToKeep[];
  /** Names the kept reports among them; null: there are none. */
  base: string | null;
  /** What the kept reports name, among other words. */
  names: readonly string[];
  /** Reports that are among the kept ones by now: those of these turns, or all. */
  told: readonly string[] | "all";
  /** What engines have beside it; what others have stays. */
  engineRows: readonly RowsToPut[];
  /**
   * True: all of its entries take the place of those that are there, none of it is noted as a copy,
   * and a turn that has not ended stays one. Absent: they follow those.
   */
  isOver?: boolean;
}

/** A session that was claimed, and by whom. */
export interface ClaimedRow {
  agentId: string;
  sessionId: string;
  epoch: number;
  step: number;
  head: number;
  line: number;
}

const ENTRIES = `
  insert into entry (agent_id, session_id, seq, entry_id, role, ts, body, blob)
  select $1, $2, $3::bigint + e.n, e.entry_id, e.role, e.ts, e.body, nullif(e.blob, '')
  from unnest($4::text[], $5::smallint[], $6::bigint[], $7::text[], $8::text[])
    with ordinality as e (entry_id, role, ts, body, blob, n)`;

/** Late, as whoever would put one of them again waits for this to be over. */
const TOUCH = `with ${TOUCHED("$1", "$2")} select hash from touched`;

/** As the database has them, which is what counts; what is elsewhere is there under its hash. */
export const HASHES = `
  select seq::float8, coalesce(blob, encode(sha256(convert_to(body, 'UTF8')), 'hex')) as hash
  from entry
  where agent_id = $1 and session_id = $2 and seq > $3 order by seq limit $4`;

/** Whoever fills the search index holds the row, and ends before this. */
const HOLD = `
  select id from session where agent_id = $1 and id = $2 for update`;

/** The index has them by their time as well. */
const DROP_ENTRIES = `
  with gone as (
    delete from entry where agent_id = $1 and session_id = $2
    returning agent_id, ts, session_id, seq
  ), marks as (
    delete from search_mark where agent_id = $1 and session_id = $2
  )
  delete from search x using gone g
  where x.agent_id = g.agent_id and x.ts = g.ts and x.session_id = g.session_id and x.seq = g.seq`;

/** They stay as long as the session; whoever takes one away waits, or is waited for. */
const HOLD_PARTS = `
  select hash from part where agent_id = $1 and hash = any ($2::text[])
  order by hash collate "C" for key share`;

const USES = `
  insert into part_use (agent_id, session_id, hash)
  select $1, $2, n.hash from unnest($3::text[]) as n (hash)
  on conflict do nothing`;

const DELIVERIES = `
  insert into delivery (agent_id, session_id, line, engine_id, change)
  select $1, $2, $3::bigint + d.n, d.engine_id, d.change
  from unnest($4::text[], $5::text[]) with ordinality as d (engine_id, change, n)`;

const DROP_FILES = `
  delete from kept_file
  where agent_id = $1 and session_id = $2 and (home = $3 or not is_own)`;

const DROP_REPORTS = `
  delete from report
  where agent_id = $1 and session_id = $2 and ($3::text[] is null or turn = any ($3::text[]))`;

const RECORD = `
  insert into copied (home, agent_id, session_id, print, step, line, key, label, engine_rows)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict (home, agent_id, session_id) do update
  set print = $4, step = $5, line = $6, key = $7, label = $8, engine_rows = $9, at = now()`;

/** Last, so that nobody waits for the row longer than for a step. */
const SESSION = `
  update session set
    step = step + 1, last_step = $5, head_seq = $6, head_line = head_line + $7, last_entry = $8,
    branch = $9::jsonb, header = $10, bytes = $11, key = $12, label = $13, base = $14,
    changed_at = to_timestamp($15::float8 / 1000), is_behind = true,
    turn = case when $16::boolean then turn end
  where agent_id = $1 and id = $2 and epoch = $3 and step = $4
  returning step`;

/** False: somebody else has the session by now. Throws STORAGE_FAILED. */
export async function putSession(
  database: Database,
  claimed: ClaimedRow,
  { home, record, session }: { home: string; record: CopyRecord; session: SessionToPut },
): Promise<boolean> {
  const token = crypto.randomUUID();
  const { agentId } = claimed;
  let place = (bodies: readonly string[]) =>
    putBodies(database, { agentId, sessionKey: session.key }, bodies);
  for (let retry = 0; ; retry++)
    try {
      return await database.together((ask) =>
        put({ place, ask, token }, claimed, { home, record, session }),
      );
    } catch (error) {
      if (error === LOST) return false;
      if (error === TAKEN_AWAY) {
        place = async (bodies) => bodies.map(asIs);
        continue;
      }
      const isPassing = !ContextEngineError.is(error) && passes(error);
      if (retry === RETRIES || !isPassing) throw storageFailed(error);
      await new Promise((resume) => setTimeout(resume, waitBefore(retry, Math.random())));
      // The answer to the commit may have been lost.
      if (await isStored(database, claimed, token)) return true;
    }
}

const LOST = new Error("the session is another's");
const TAKEN_AWAY = new Error("a large body was taken away since it was put elsewhere");

interface PutPorts {
  ask: AskInside;
  token: string;
  /** Bodies as their rows have them. */
  place(bodies: readonly string[]): Promise<PlacedBody[]>;
}

async function put(
  { place, ask, token }: PutPorts,
  claimed: ClaimedRow,
  { home, record, session }: { home: string; record: CopyRecord; session: SessionToPut },
): Promise<boolean> {
  const { agentId, sessionId } = claimed;
  const { isOver = false } = session;
  if (isOver) for (const text of [HOLD, DROP_ENTRIES]) await ask(text, [agentId, sessionId]);
  let at = session.stored;
  const named = new Set<string>();
  for await (const entries of session.entries()) {
    const bodies = await place(entries.map(({ body }) => body));
    for (const { blob } of bodies) if (blob !== "") named.add(blob);
    await ask(ENTRIES, [
      ...[agentId, sessionId, at],
      entries.map(({ id }) => id),
      entries.map(({ role }) => role),
      entries.map(({ ts }) => ts),
      bodies.map(({ body }) => body),
      bodies.map(({ blob }) => blob),
    ]);
    const kept = await ask<{ hash: string }>(HASHES, [agentId, sessionId, at, entries.length]);
    if (!entries.every(({ hash }, index) => kept[index]?.hash === hash)) throw notTheSame(record);
    at += entries.length;
  }
  if (at !== session.head) throw notTheSame(record);
  await ask(DELIVERIES, [
    ...[agentId, sessionId, claimed.line],
    session.deliveries.map(({ engineId }) => engineId),
    session.deliveries.map(({ change }) => change),
  ]);
  await ask(DROP_FILES, [agentId, sessionId, home]);
  for (const file of session.files) await keepFile(ask, home, file);
  const told = session.told === "all" ? null : session.told;
  await ask(DROP_REPORTS, [agentId, sessionId, told]);
  const line = claimed.line + session.deliveries.length;
  for (const rows of session.engineRows) await putEngineRows(ask, claimed, rows);
  const { print, key, label } = record;
  if (!isOver)
    await ask(RECORD, [
      ...[home, agentId, sessionId, print, claimed.step + 1, line, key, label],
      record.rows,
    ]);
  const parts = await ask<{ hash: string }>(HOLD_PARTS, [agentId, session.names]);
  await ask(USES, [agentId, sessionId, parts.map(({ hash }) => hash)]);
  if ((await ask(TOUCH, [agentId, [...named]])).length < named.size) throw TAKEN_AWAY;
  const stored = await ask(SESSION, [
    ...[agentId, sessionId, claimed.epoch, claimed.step, token, session.head],
    ...[session.deliveries.length, session.lastEntry, JSON.stringify(session.branch)],
    ...[session.header, session.bytes, session.key, session.label],
    ...[session.base, session.changedAt, isOver],
  ]);
  if (stored.length === 0) throw LOST;
  return true;
}

async function isStored(database: Database, claimed: ClaimedRow, token: string): Promise<boolean> {
  const [row] = await database.ask(
    {
      name: "copy-last-step",
      text: "select 1 as one from session where agent_id = $1 and id = $2 and last_step = $3",
    },
    [claimed.agentId, claimed.sessionId, token],
  );
  return row !== undefined;
}

/** What the kept file of acknowledgements holds does not change with it. */
const NOTE: Statement<never> = {
  name: "copy-note",
  text: `
    insert into copied (home, agent_id, session_id, print, step, line, key, label, engine_rows)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    on conflict (home, agent_id, session_id) do update
    set print = $4, step = $5, key = $7, label = $8, engine_rows = $9, at = now()`,
};

/** For who has written the other side. */
export async function putRecord(
  database: Database,
  home: string,
  { agentId, sessionId, print, key, label, rows }: CopyRecord,
  { step, line }: { step: number; line: number },
): Promise<void> {
  await database.ask(NOTE, [home, agentId, sessionId, print, step, line, key, label, rows]);
}

const IS_OWN = `
  select id from session where agent_id = $1 and id = $2 and epoch = $3 for share`;

const NOTE_ROWS = `
  update copied set engine_rows = $4 where home = $1 and agent_id = $2 and session_id = $3`;

/** Of a session that is the same on both sides. False: somebody else has it by now. */
export async function putRowsAlone(
  database: Database,
  { agentId, sessionId, epoch }: ClaimedRow,
  { home, print, rows }: { home: string; print: string; rows: readonly RowsToPut[] },
): Promise<boolean> {
  try {
    return await database.together(async (ask) => {
      const own = await ask(IS_OWN, [agentId, sessionId, epoch]);
      if (own.length === 0) return false;
      for (const each of rows) await putEngineRows(ask, { agentId, sessionId, epoch }, each);
      await ask(NOTE_ROWS, [home, agentId, sessionId, print]);
      return true;
    });
  } catch (error) {
    throw storageFailed(error);
  }
}

const notTheSame = ({ key }: CopyRecord) =>
  new ContextEngineError(
    "STORAGE_FAILED",
    `The session ${key} was not copied, as it changed meanwhile, or the database keeps other bytes than it was given (its encoding must be UTF8); nothing of it was stored.`,
  );
