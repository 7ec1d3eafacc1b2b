// Asks for the messages that may hold what is searched for, newest first.
import type { Question, Statement } from "../database.ts";
import { WORDS } from "../migrations/0006-search.ts";
import { type IndexNeeds, wordQuery } from "./spelling.ts";

/** Where to look. */
export interface Scope {
  agentId: string;
  /** Null: in all sessions of the agent. */
  sessionId: string | null;
  /** True: also in entries that left the branch of their session. */
  everyBranch: boolean;
}

/** Everything before it, in the order of the index, is still to be looked at. */
export interface Cursor {
  ts: number;
  sessionId: string;
  seq: number;
}

/** A message that may hold it. */
export interface CandidateRow {
  session_id: string;
  seq: number;
  ts: number;
  body: string;
  blob: string | null;
  key: string;
  label: string | null;
  on_branch: boolean;
}

/** A candidate, or none; and how far was looked: all are older than the last. */
export type WindowRow = { [Column in keyof CandidateRow]: CandidateRow[Column] | null } & {
  /** Messages of the window; of the index: 0 = there are no earlier ones. */
  looked: number;
  last_ts: number | null;
  last_session: string | null;
  last_seq: number | null;
};

/** Before everything of a scope. */
export const newestOf = ({ sessionId }: Scope): Cursor => ({
  ts: Number.MAX_SAFE_INTEGER,
  ...{ sessionId: sessionId ?? "", seq: Number.MAX_SAFE_INTEGER },
});

/** As of `TranscriptPort`: what a rewrite or a cut left behind is in no range of the branch. */
const ON_BRANCH = (seq: string): string => `
  (s.branch = '[[1, null]]'::jsonb or exists (
    select 1 from jsonb_array_elements(s.branch) r
    where ${seq} >= (r->>0)::bigint and ${seq} <= coalesce((r->>1)::bigint, ${seq})
  ))`;

/** Transcripts that engines begin are no sessions yet. */
const IS_SESSION = "s.key not like 'begun:%'";

const TAIL: Statement<CandidateRow> = {
  name: "search-tail",
  text: `
    select s.id as session_id, e.seq::float8, e.ts::float8, e.body, e.blob, s.key, s.label,
      ${ON_BRANCH("e.seq")} as on_branch
    from session s
    left join search_mark m on m.agent_id = s.agent_id and m.session_id = s.id
    cross join lateral (
      select t.seq, t.ts, t.body, t.blob from entry t
      where t.agent_id = s.agent_id and t.session_id = s.id
        and t.seq > coalesce(m.seq, 0) and t.role <> 0
      order by t.seq desc limit $4
    ) e
    where s.agent_id = $1 and s.is_behind and ($2::text is null or s.id = $2) and ${IS_SESSION}
      and ($3 or ${ON_BRANCH("e.seq")})
    order by e.ts desc, s.id desc, e.seq desc limit $4`,
};

/** The newest messages that the index lacks, at most `limit`. */
export const tailQuestion = (scope: Scope, limit: number): Question<CandidateRow> => ({
  statement: TAIL,
  values: [scope.agentId, scope.sessionId, scope.everyBranch, limit],
});

const LEAST = "-9223372036854775808";

/** Of candidates `c`, which end with how far was looked. */
const FOUND = (limit: string): string => `
  found as (
    select c.session_id, c.seq, c.ts, s.key, s.label, ${ON_BRANCH("c.seq")} as on_branch
    from candidate c join session s on s.agent_id = $1 and s.id = c.session_id
    where ${IS_SESSION} and ($2 or ${ON_BRANCH("c.seq")})
    order by c.ts desc, c.session_id desc, c.seq desc limit ${limit}
  )
  select w.looked, w.last_ts::float8, w.last_session, w.last_seq::float8,
    f.session_id, f.seq::float8, f.ts::float8, e.body, e.blob, f.key, f.label, f.on_branch
  from reached w left join found f on true
  left join entry e on e.agent_id = $1 and e.session_id = f.session_id and e.seq = f.seq
  order by f.ts desc, f.session_id desc, f.seq desc`;

const fits = (row: string, first: number, count: number): string =>
  Array.from({ length: count }, (_, index) => ` and ${row}.text like $${first + index}`).join("");

const REACHED = `
  reached as (
    select count(*)::int as looked, (array_agg(n.ts order by n.place desc))[1] as last_ts,
      (array_agg(n.session_id order by n.place desc))[1] as last_session,
      (array_agg(n.seq order by n.place desc))[1] as last_seq
    from newest n
  )`;

interface WindowRequest {
  scope: Scope;
  needs: IndexNeeds;
  from: Cursor;
  /** Messages that are looked at. */
  size: number;
  /** Candidates that are read. */
  limit: number;
}

/** The newest messages of a scope, looked at one by one. */
export function windowQuestion(request: WindowRequest): Question<WindowRow> {
  const { scope, needs, from, size, limit } = request;
  // A word is a text, too.
  const patterns = [...needs.patterns, ...needs.words.slice(0, 2).map((word) => `%${word}%`)];
  const isFit = `(n.is_bulk or (true${fits("n", 8, patterns.length)}))`;
  const ofAgent = `
    select x.ts, x.session_id, x.seq, x.is_bulk, x.text,
      row_number() over (order by x.ts desc, x.session_id desc, x.seq desc) as place
    from search x
    where x.agent_id = $1 and (x.ts, x.session_id, x.seq) < ($3::bigint, $4::text, $5::bigint)
    order by x.ts desc, x.session_id desc, x.seq desc limit $6`;
  const ofSession = `
    select e.ts, $4::text as session_id, e.seq, x.is_bulk, x.text,
      row_number() over (order by e.seq desc) as place
    from (
      select t.ts, t.seq from entry t
      where t.agent_id = $1 and t.session_id = $4 and t.seq < $5 and $3::bigint is not null
      order by t.seq desc limit $6
    ) e
    left join search x
      on x.agent_id = $1 and x.ts = e.ts and x.session_id = $4 and x.seq = e.seq`;
  const isOfAgent = scope.sessionId === null;
  return {
    statement: {
      name: `search-window-${isOfAgent ? "agent" : "session"}-${patterns.length}`,
      text: `
        with newest as materialized (${isOfAgent ? ofAgent : ofSession}),
        ${REACHED},
        candidate as (
          select n.ts, n.session_id, n.seq from newest n where ${isFit}
        ), ${FOUND("$7")}`,
    },
    values: [
      ...[scope.agentId, scope.everyBranch, from.ts, from.sessionId, from.seq, size, limit],
      ...patterns,
    ],
  };
}

/** What the indexes name of an agent's messages before a place and not before a time. */
export function indexQuestion(
  request: Omit<WindowRequest, "size"> & { since: number | null },
): Question<WindowRow> {
  const { scope, needs, from, since, limit } = request;
  const { patterns, words } = needs;
  const isWord = words.length > 0 ? ` and ${WORDS("x.text")} @@ $8::tsquery` : "";
  const isFit = fits("x", words.length > 0 ? 9 : 8, patterns.length);
  const isWithin = `
    (x.ts, x.session_id, x.seq) < ($3::bigint, $4::text, $5::bigint) and x.ts >= $6::bigint`;
  return {
    statement: {
      name: `search-index-${Math.min(1, words.length)}-${patterns.length}`,
      text: `
        with reached as (
          select case when exists (
              select 1 from search o where o.agent_id = $1 and o.ts < $6::bigint
            ) then 1 else 0 end as looked,
            $6::bigint as last_ts, ''::text as last_session, 0::bigint as last_seq
        ), candidate as materialized (
          select x.ts, x.session_id, x.seq from search x
          where x.agent_id = $1 and not x.is_bulk${isWord}${isFit} and ${isWithin}
          union all
          select x.ts, x.session_id, x.seq from search x
          where x.agent_id = $1 and x.is_bulk and ${isWithin}
        ), ${FOUND("$7")}`,
    },
    values: [
      ...[scope.agentId, scope.everyBranch, from.ts, from.sessionId, from.seq],
      ...[since ?? LEAST, limit],
      ...(words.length > 0 ? [wordQuery(words)] : []),
      ...patterns,
    ],
  };
}

/** When the newest message of an agent was said, and the one `count` before it (null: none). */
export const timesQuestion = (
  { agentId }: Scope,
  count: number,
): Question<{ newest: number | null; earlier: number | null }> => ({
  statement: TIMES,
  values: [agentId, count],
});

const TIMES: Statement<{ newest: number | null; earlier: number | null }> = {
  name: "search-times",
  text: `
    select
      (select ts from search where agent_id = $1 order by ts desc limit 1)::float8 as newest,
      (select ts from search where agent_id = $1 order by ts desc offset $2 limit 1)::float8
        as earlier`,
};

/** How many messages of the index are not before a place. */
export const lookedQuestion = (
  { agentId, sessionId }: Scope,
  { ts, sessionId: last, seq }: Cursor,
): Question<{ count: number }> =>
  sessionId === null
    ? { statement: LOOKED, values: [agentId, ts, last, seq] }
    : { statement: LOOKED_IN_SESSION, values: [agentId, sessionId, seq] };

const LOOKED: Statement<{ count: number }> = {
  name: "search-looked",
  text: `
    select count(*)::float8 as count from search
    where agent_id = $1 and (ts, session_id, seq) >= ($2::bigint, $3::text, $4::bigint)`,
};

const LOOKED_IN_SESSION: Statement<{ count: number }> = {
  name: "search-looked-in-session",
  text: `
    select count(*)::float8 as count from entry
    where agent_id = $1 and session_id = $2 and seq >= $3 and role <> 0`,
};

/** How many messages there are to be searched. */
export const countQuestion = (scope: Scope): Question<{ count: number }> => ({
  statement: COUNT,
  values: [scope.agentId, scope.sessionId],
});

const COUNT: Statement<{ count: number }> = {
  name: "search-count",
  text: `
    select coalesce(sum(
      coalesce(m.messages, 0) + greatest(0, s.head_seq - coalesce(m.seq, 0))
    ), 0)::float8 as count
    from session s
    left join search_mark m on m.agent_id = s.agent_id and m.session_id = s.id
    where s.agent_id = $1 and ($2::text is null or s.id = $2) and ${IS_SESSION}`,
};

/** Agents that have sessions, one after the other by the key. */
export const AGENTS: Statement<{ agent_id: string }> = {
  name: "search-agents",
  text: `
    with recursive a as (
      (select agent_id from session order by agent_id limit 1)
      union all
      select (select s.agent_id from session s where s.agent_id > a.agent_id
        order by s.agent_id limit 1)
      from a where a.agent_id is not null
    )
    select agent_id from a where agent_id is not null`,
};
