// Finds messages of an agent, newest first, and says how far it looked.
import type { Database } from "../database.ts";
import { codeOf } from "../passing.ts";
import { type IndexNeeds, indexNeeds } from "./spelling.ts";
import {
  type CandidateRow,
  type Cursor,
  countQuestion,
  indexQuestion,
  newestOf,
  type Scope,
  tailQuestion,
  type WindowRow,
  windowQuestion,
} from "./statements.ts";
import { TRIGRAMS } from "./trigrams.ts";

/** What to look for, and where. */
export interface MessageSearchRequest<Value> {
  /** Whose sessions. */
  agentId: string;
  /** Only in this one. Absent: in all of the agent. */
  sessionId?: string | undefined;
  /** True: also what left the branch of its session. Absent: it does not count. */
  everyBranch?: boolean;
  /** What every message that is found holds, in either case and whatever its accents. */
  needs: {
    /** Texts. */
    literals: readonly string[];
    /** Whole words. */
    words: readonly string[];
  };
  /** Whether an entry, given as its line, is what is looked for; undefined: it is not. */
  accepts(line: string): Value | undefined | Promise<Value | undefined>;
  /** Most messages that are found. */
  limit: number;
  /** Longest time to look, ms; a statement has 2 s at most. */
  boundMs: number;
  /** Ends it between two statements, with its reason. */
  signal?: AbortSignal | undefined;
}

/** A message that was found. */
export interface MessageHit<Value> {
  /** Its transcript. */
  sessionId: string;
  /** The name of that. */
  key: string;
  /** What people call it; null: nothing. */
  label: string | null;
  /** Its place in the log. */
  seq: number;
  /** ms since the epoch. */
  ts: number;
  /** False: it left the branch of its session. */
  isOnBranch: boolean;
  /** What `accepts` made of it. */
  value: Value;
}

/** What a search came to. */
export interface MessageSearch<Value> {
  /** Newest first. */
  hits: MessageHit<Value>[];
  /** True: there was no time to look at all that might be among them. */
  isTimeUp: boolean;
  /** Of how many messages, from the newest on, is known whether they hold it. */
  looked: number;
  /** How many there are; not counted (0) unless time was up. */
  of: number;
  /** False: texts are looked for message by message, as the database has no `pg_trgm`. */
  hasTrigrams: boolean;
  /** True: there is more that the index lacks than was looked at. */
  isBehind: boolean;
}

/** A common pattern is found among so many. */
const FIRST_WINDOW = 500;
/** Where no index helps, later ones. */
const LATER_WINDOW = 5_000;
const FIRST_INDEXED = 20_000;
const TIMES = 10;
/** Of what the index lacks; more is indexed before. */
const TAIL = 500;
/** Candidates that turn out to be none, beside those that are wanted. */
const SPARE = 50;
const STATEMENT_MS = 2_000;
const CANCELED = "57014";

/** Whole indexes of one message in three are read from memory; a plan for each pattern. */
const SETTINGS = `
  set transaction read only; set local work_mem = '64MB'; set local enable_seqscan = off;
  set local plan_cache_mode = force_custom_plan; set local jit = off;
  set local statement_timeout = ${STATEMENT_MS}`;

interface Look {
  scope: Scope;
  needs: IndexNeeds;
  /** True: an index tells most messages that do not hold it. */
  isIndexed: boolean;
}

/** Throws STORAGE_FAILED, and what `accepts` throws. */
export async function searchMessages<Value>(
  database: Database,
  request: MessageSearchRequest<Value>,
): Promise<MessageSearch<Value>> {
  const { agentId, sessionId = null, everyBranch = false, limit, boundMs, signal } = request;
  const end = performance.now() + boundMs;
  const scope = { agentId, sessionId, everyBranch };
  const needs = indexNeeds(request.needs);
  const hits = new Map<string, MessageHit<Value>>();
  const take = async (rows: readonly CandidateRow[]) => {
    for (const row of rows) {
      const name = `${row.session_id} ${row.seq}`;
      if (hits.has(name)) continue;
      signal?.throwIfAborted();
      const value = await request.accepts(row.body);
      if (value !== undefined) hits.set(name, hitOf(row, value));
    }
  };

  let at: Cursor | null = newestOf(scope);
  const first = { scope, needs, from: at, size: FIRST_WINDOW, limit: limit + SPARE };
  const [tail, newest, [trigrams]] = await database.askAsOne<[CandidateRow, WindowRow, { is_there: boolean }]>(
      [tailQuestion(scope, TAIL), windowQuestion(first), { statement: TRIGRAMS, values: [] }],
      SETTINGS,
    );
  const hasTrigrams = trigrams?.is_there === true;
  const isIndexed =
    sessionId === null && (needs.words.length > 0 || (needs.hasTrigrams && hasTrigrams));
  const isBehind = tail.length === TAIL;
  await take(tail);
  let looked = tail.length;
  let isTimeUp = false;
  for (let step = windowOf(newest, first); ; ) {
    await take(step.candidates);
    at = step.next;
    looked += step.looked;
    if (at === null || newerThan(at, hits.values(), scope) >= limit) break;
    signal?.throwIfAborted();
    const next: Step | null =
      performance.now() >= end
        ? null
        : await lookOn(database, { scope, needs, isIndexed }, step, limit);
    isTimeUp = next === null;
    if (next === null) break;
    step = next;
  }
  const isOver = isTimeUp || isBehind;
  const [counted] = isOver
    ? await database.ask(countQuestion(scope).statement, [agentId, sessionId])
    : [];
  return {
    hits: [...hits.values()].sort(newestFirst).slice(0, limit),
    ...{ isTimeUp, looked, of: counted?.count ?? 0, hasTrigrams, isBehind },
  };
}

/** What a statement told. */
interface Step {
  candidates: CandidateRow[];
  /** Messages that it is known of. */
  looked: number;
  /** Where to go on; null: all was looked at. */
  next: Cursor | null;
  /** Messages of the window. */
  size: number;
}

/** Null: it took too long. */
async function lookOn(
  database: Database,
  { scope, needs, isIndexed }: Look,
  before: Step,
  limit: number,
): Promise<Step | null> {
  const size = isIndexed
    ? Math.max(FIRST_INDEXED, before.size * (before.size >= FIRST_INDEXED ? TIMES : 1))
    : needs.patterns.length === 0
      ? FIRST_WINDOW
      : LATER_WINDOW;
  // Where nothing narrows it, all of a window are read.
  const most = isIndexed || needs.patterns.length > 0 ? limit + SPARE : size;
  const window = { scope, needs, from: before.next!, size, limit: most };
  try {
    const [rows] = await database.askAsOne<[WindowRow]>(
        [isIndexed ? indexQuestion(window) : windowQuestion(window)],
        SETTINGS,
      );
    return windowOf(rows, window);
  } catch (error) {
    if (codeOf((error as Error).cause) === CANCELED) return null;
    throw error;
  }
}

/** Pure. */
function windowOf(
  rows: readonly WindowRow[],
  { size, limit }: { size: number; limit: number },
): Step {
  const candidates = rows.filter((row): row is WindowRow & CandidateRow => row.seq !== null);
  const [reached] = rows;
  const last = candidates.at(-1);
  if (candidates.length === limit && last !== undefined)
    return {
      ...{ candidates, size, looked: candidates.length },
      next: { ts: last.ts, sessionId: last.session_id, seq: last.seq },
    };
  const isLast = reached === undefined || reached.looked < size;
  return {
    ...{ candidates, size, looked: Math.max(0, reached?.looked ?? 0) },
    next: isLast
      ? null
      : { ts: reached.last_ts!, sessionId: reached.last_session!, seq: reached.last_seq! },
  };
}

/** How many are found for good, as nothing newer is to be looked at. */
function newerThan(
  at: Cursor,
  hits: Iterable<{ ts: number; sessionId: string; seq: number }>,
  { sessionId }: Scope,
): number {
  let count = 0;
  for (const hit of hits)
    if (sessionId === null ? newestFirst(hit, at) <= 0 : hit.seq >= at.seq) count++;
  return count;
}

const newestFirst = (one: Cursor, other: Cursor): number =>
  other.ts - one.ts ||
  (one.sessionId === other.sessionId
    ? other.seq - one.seq
    : one.sessionId > other.sessionId
      ? -1
      : 1);

const hitOf = <Value>(row: CandidateRow, value: Value): MessageHit<Value> => ({
  ...{ sessionId: row.session_id, key: row.key, label: row.label },
  ...{ seq: row.seq, ts: row.ts, isOnBranch: row.on_branch, value },
});
