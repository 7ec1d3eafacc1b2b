// Reads what is stored of sessions, whoever owns them.
import type { Range } from "./branch.ts";
import type { Database, Question, Statement } from "./database.ts";

const ENTRIES: Statement<{ body: string }> = {
  name: "entry-read",
  text: `
    select e.body from unnest($3::bigint[], $4::bigint[]) with ordinality as r (lo, hi, n)
    join entry e on e.agent_id = $1 and e.session_id = $2 and e.seq between r.lo and r.hi
    order by r.n, e.seq`,
};

/** The newest ones, on the branch or not; asked together with a claim, so by key. */
const NEWEST: Statement<{ seq: number; body: string }> = {
  name: "entry-newest",
  text: `
    select e.seq::float8, e.body from session s
    join entry e on e.agent_id = s.agent_id and e.session_id = s.id
      and e.seq > s.head_seq - $3::bigint
    where s.agent_id = $1 and s.key = $2
    order by e.seq`,
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

const PART: Statement<{ body: string }> = {
  name: "part-read",
  text: "select body from part where agent_id = $1 and hash = $2",
};

/** Lines of these ranges, in their order. */
export async function readLines(
  database: Database,
  { agentId, sessionId }: { agentId: string; sessionId: string },
  ranges: readonly Range[],
): Promise<string[]> {
  if (ranges.length === 0) return [];
  const [from, to] = [ranges.map(([lo]) => lo), ranges.map(([, hi]) => hi)];
  const rows = await database.ask(ENTRIES, [agentId, sessionId, from, to]);
  return rows.map(({ body }) => body);
}

interface ByKey {
  agentId: string;
  key: string;
}

export const newestQuestion = (
  { agentId, key }: ByKey,
  count: number,
): Question<{ seq: number; body: string }> => ({
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
  const [row] = await database.ask(PART, [agentId, hash]);
  return row?.body ?? null;
}
