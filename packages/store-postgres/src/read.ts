// Reads what is stored of sessions, whoever owns them.
import { type BodyRow, wholeBodies } from "./blobs/whole-bodies.ts";
import type { Range } from "./branch.ts";
import type { Database, Question, Statement } from "./database.ts";

const ENTRIES: Statement<BodyRow> = {
  name: "entry-read",
  text: `
    select e.body, e.blob from unnest($3::bigint[], $4::bigint[]) with ordinality as r (lo, hi, n)
    join entry e on e.agent_id = $1 and e.session_id = $2 and e.seq between r.lo and r.hi
    order by r.n, e.seq`,
};

/** The newest ones, on the branch or not; asked together with a claim, so by key. */
const NEWEST: Statement<EntryBody> = {
  name: "entry-newest",
  text: `
    select e.seq::float8, e.body, e.blob from session s
    join entry e on e.agent_id = s.agent_id and e.session_id = s.id
      and e.seq > s.head_seq - $3::bigint
    where s.agent_id = $1 and s.key = $2
    order by e.seq`,
};

/** In the order in which they were stored, whatever their branch. */
const LOG: Statement<EntryBody> = {
  name: "entry-log",
  text: `
    select seq::float8, body, blob from entry
    where agent_id = $1 and session_id = $2 and seq > $3 order by seq limit $4`,
};

/** The newest one of this name: a rewrite gives new ones. */
const PLACE: Statement<{ seq: number }> = {
  name: "entry-place",
  text: `
    select seq::float8 from entry
    where agent_id = $1 and session_id = $2 and entry_id = $3 order by seq desc limit 1`,
};

const LATER_REPORTS: Statement<{ step: number; body: string; parts: string[] }> = {
  name: "report-later",
  text: `
    select step::float8, body, parts from report
    where agent_id = $1 and session_id = $2 and step > $3 order by step limit $4`,
};

const REPORT_STEP: Statement<{ step: number }> = {
  name: "report-step",
  text: `
    select step::float8 from report
    where agent_id = $1 and session_id = $2 and turn = $3 order by step desc limit 1`,
};

const PARTS: Statement<BodyRow & { hash: string }> = {
  name: "part-read-many",
  text: "select hash, body, blob from part where agent_id = $1 and hash = any ($2)",
};

const DELIVERIES: Statement<{ engine_id: string; change: string }> = {
  name: "delivery-read",
  text: `
    select d.engine_id, d.change from session s
    join delivery d on d.agent_id = s.agent_id and d.session_id = s.id
    where s.agent_id = $1 and s.key = $2
    order by d.line`,
};

const REPORTS: Statement<{ step: number; body: string }> = {
  name: "report-read",
  text: `
    select step::float8, body from report
    where agent_id = $1 and session_id = $2 and step < $3 order by step desc limit $4`,
};

const PART: Statement<BodyRow> = {
  name: "part-read",
  text: "select body, blob from part where agent_id = $1 and hash = $2",
};

/** An entry at its place in the log, whose body may be elsewhere. */
export type EntryBody = BodyRow & { seq: number };

interface OfSession {
  agentId: string;
  sessionId: string;
}

/** At most `limit` of those behind a place of the log. */
export const readLog = async (
  database: Database,
  { agentId, sessionId }: OfSession,
  ...[after, limit]: [number, number]
): Promise<{ seq: number; body: string }[]> =>
  wholeBodies(database, agentId, await database.ask(LOG, [agentId, sessionId, after, limit]));

/** Its place in the log; null: it is not there. */
export async function placeOfEntry(
  database: Database,
  { agentId, sessionId }: OfSession,
  entryId: string,
): Promise<number | null> {
  const [row] = await database.ask(PLACE, [agentId, sessionId, entryId]);
  return row?.seq ?? null;
}

/** At most `limit` of those behind a step, oldest first. */
export const readLaterReports = (
  database: Database,
  { agentId, sessionId }: OfSession,
  ...[after, limit]: [number, number]
): Promise<{ step: number; body: string; parts: string[] }[]> =>
  database.ask(LATER_REPORTS, [agentId, sessionId, after, limit]);

/** By their hashes. */
export async function readParts(
  database: Database,
  agentId: string,
  hashes: readonly string[],
): Promise<Record<string, string>> {
  if (hashes.length === 0) return {};
  const stored = await database.ask(PARTS, [agentId, hashes]);
  const rows = await wholeBodies(database, agentId, stored);
  return Object.fromEntries(rows.map(({ hash, body }) => [hash, body]));
}

/** The step that a turn's report came with; null: it has none. */
export async function stepOfReport(
  database: Database,
  { agentId, sessionId }: OfSession,
  turnId: string,
): Promise<number | null> {
  const [row] = await database.ask(REPORT_STEP, [agentId, sessionId, turnId]);
  return row?.step ?? null;
}

/** Lines of these ranges, in their order. */
export async function readLines(
  database: Database,
  { agentId, sessionId }: { agentId: string; sessionId: string },
  ranges: readonly Range[],
): Promise<string[]> {
  if (ranges.length === 0) return [];
  const [from, to] = [ranges.map(([lo]) => lo), ranges.map(([, hi]) => hi)];
  const rows = await database.ask(ENTRIES, [agentId, sessionId, from, to]);
  return (await wholeBodies(database, agentId, rows)).map(({ body }) => body);
}

interface ByKey {
  agentId: string;
  key: string;
}

export const newestQuestion = ({ agentId, key }: ByKey, count: number): Question<EntryBody> => ({
  statement: NEWEST,
  values: [agentId, key, count],
});

export const deliveriesQuestion = ({
  agentId,
  key,
}: ByKey): Question<{ engine_id: string; change: string }> => ({
  statement: DELIVERIES,
  values: [agentId, key],
});

export async function readReports(
  database: Database,
  ...[agentId, sessionId, before, limit]: [string, string, number, number]
): Promise<{ step: number; body: string }[]> {
  return database.ask(REPORTS, [agentId, sessionId, before, limit]);
}

export async function readPart(
  database: Database,
  agentId: string,
  hash: string,
): Promise<string | null> {
  const rows = await database.ask(PART, [agentId, hash]);
  const [row] = await wholeBodies(database, agentId, rows);
  return row?.body ?? null;
}
