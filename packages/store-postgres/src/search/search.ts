// Finds messages of an agent, newest first, and says how far it looked.
import { pause } from "@clew/plugin-sdk/host";
import { isLostBody, wholeBodies } from "../blobs/whole-bodies.ts";
import type { Database } from "../database.ts";
import { codeOf } from "../passing.ts";
import { type IndexNeeds, indexNeeds } from "./spelling.ts";
import {
  type CandidateRow,
  type Cursor,
  countQuestion,
  indexQuestion,
  lookedQuestion,
  newestOf,
  type Scope,
  tailQuestion,
  timesQuestion,
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
  /** Absent: as many messages were looked at as were needed. Else so many, the newest, of all. */
  partly?: { looked: number; of: number };
  /** Sessions with messages that cannot be had, each with the reason for one of them. */
  unread: { key: string; why: string }[];
  /** False: texts are looked for message by message, as the database has no `pg_trgm`. */
  hasTrigrams: boolean;
  /** True: more is missing in the index than was looked at. */
  isBehind: boolean;
}

/** What is common is found among so many. */
const FIRST_WINDOW = 500;
/** Where no index helps, later ones. */
const LATER_WINDOW = 5_000;
/** How long it took to say so many tells how far back it is looked then … */
const MEASURED = 2_500;
/** … so many times as long. */
const FIRST_TIMES = 4;
/** The next time so many times longer: where some were found, and where hardly any were. */
const SOME_TIMES = 10;
const HARDLY_TIMES = 100;
const SOME = 5;
/** Of what the index lacks; more is indexed before. */
const TAIL = 500;
/** Candidates that turn out to be none, beside those that are wanted. */
const SPARE = 20;
const STATEMENT_MS = 2_000;
const CANCELED = "57014";

/** For this transaction alone. A plan for each pattern, as one may be rare and another common. */
export const SETTINGS = `
  set transaction read only; set local work_mem = '64MB'; set local enable_seqscan = off;
  set local plan_cache_mode = force_custom_plan; set local jit = off;
  set local statement_timeout = ${STATEMENT_MS}`;

interface Look {
  scope: Scope;
  needs: IndexNeeds;
  /** Candidates that are read by a statement. */
  limit: number;
  /** Null: no index tells of most messages that they do not hold it. */
  times: { newest: number; earlier: number | null } | null;
}

/** What a statement told. */
interface Step {
  candidates: CandidateRow[];
  /** Where to go on; null: all was looked at. */
  next: Cursor | null;
  /** Of the index: how far it looked back, ms. */
  sinceMs: number;
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
  const unread = new Map<string, string>();
  /** Newest first: those behind as many as are wanted are of no use. */
  const take = async (rows: readonly CandidateRow[]) => {
    let accepted = 0;
    for (const row of rows) {
      if (accepted >= limit) return;
      const name = `${row.session_id} ${row.seq}`;
      if (hits.has(name)) continue;
      signal?.throwIfAborted();
      await pause(signal);
      const body = await bodyOf(database, agentId, row).catch((error: unknown) => {
        if (!isLostBody(error)) throw error;
        unread.set(row.key, error.message);
      });
      const value = body === undefined ? undefined : await request.accepts(body);
      if (value === undefined) continue;
      hits.set(name, hitOf(row, value));
      accepted++;
    }
  };
  const window = { scope, needs, size: FIRST_WINDOW, limit: limit + SPARE };
  const first = await begin(database, { ...window, from: newestOf(scope) });
  const { hasTrigrams } = first;
  const isIndexed =
    sessionId === null && (needs.words.length > 0 || (needs.hasTrigrams && hasTrigrams));
  const look = { scope, needs, limit: window.limit, times: isIndexed ? first.times : null };
  await take(first.tail);
  let step: Step | null = windowStep(first.newest, window);
  let at: Cursor | null = newestOf(scope);
  while (step !== null) {
    await take(step.candidates);
    at = step.next;
    if (at === null || foundBefore(at, hits.values(), scope) >= limit) break;
    signal?.throwIfAborted();
    step = performance.now() >= end ? null : await lookOn(database, look, step);
  }
  const isBehind = first.tail.length === TAIL;
  const isPartly = step === null || isBehind;
  return {
    hits: [...hits.values()].sort(newestFirst).slice(0, limit),
    ...(isPartly && { partly: await howFar(database, scope, at, first.tail.length) }),
    unread: [...unread].map(([key, why]) => ({ key, why })),
    ...{ hasTrigrams, isBehind },
  };
}

const bodyOf = async (database: Database, agentId: string, row: CandidateRow) =>
  (await wholeBodies(database, agentId, [row]))[0]!.body;

/** In one round trip. */
async function begin(database: Database, window: Parameters<typeof windowQuestion>[0]) {
  const { scope } = window;
  const [tail, newest, [trigrams], [times]] = await database.askAsOne<
    [
      CandidateRow,
      WindowRow,
      { is_there: boolean },
      { newest: number | null; earlier: number | null },
    ]
  >(
    [
      tailQuestion(scope, TAIL),
      windowQuestion(window),
      { statement: TRIGRAMS, values: [] },
      timesQuestion(scope, MEASURED),
    ],
    SETTINGS,
  );
  return {
    ...{ tail, newest, hasTrigrams: trigrams?.is_there === true },
    times: { newest: times?.newest ?? 0, earlier: times?.earlier ?? null },
  };
}

/** Null: it took too long. */
async function lookOn(database: Database, look: Look, before: Step): Promise<Step | null> {
  const { scope, needs, limit, times } = look;
  const from = before.next!;
  // Where nothing narrows it, all of a window are read.
  const isNarrowed = needs.patterns.length + needs.words.length > 0;
  const size = isNarrowed ? LATER_WINDOW : FIRST_WINDOW;
  const window = { scope, needs, from, size, limit: isNarrowed ? limit : size };
  const sinceMs = times === null ? 0 : howFarBack(times, before);
  const since = times === null || sinceMs === Infinity ? null : times.newest - sinceMs;
  try {
    const [rows] = await database.askAsOne<[WindowRow]>(
      [times === null ? windowQuestion(window) : indexQuestion({ ...window, since })],
      SETTINGS,
    );
    return times === null ? windowStep(rows, window) : indexStep(rows, { limit, sinceMs });
  } catch (error) {
    if (codeOf((error as Error).cause) === CANCELED) return null;
    throw error;
  }
}

/** Pure. */
function howFarBack({ newest, earlier }: NonNullable<Look["times"]>, before: Step): number {
  if (earlier === null) return Infinity;
  if (before.sinceMs === 0) return Math.max(1, FIRST_TIMES * (newest - earlier));
  return before.sinceMs * (before.candidates.length < SOME ? HARDLY_TIMES : SOME_TIMES);
}

const candidatesIn = (rows: readonly WindowRow[]) =>
  rows.filter((row): row is WindowRow & CandidateRow => row.seq !== null);

/** Pure. There may be more candidates behind the last. */
function cutAt(candidates: readonly CandidateRow[], limit: number): Cursor | undefined {
  const last = candidates.length < limit ? undefined : candidates.at(-1);
  return last && { ts: last.ts, sessionId: last.session_id, seq: last.seq };
}

const reachedBy = ([row]: readonly WindowRow[]): Cursor => ({
  ...{ ts: row!.last_ts!, sessionId: row!.last_session!, seq: row!.last_seq! },
});

function windowStep(
  rows: readonly WindowRow[],
  { size, limit }: { size: number; limit: number },
): Step {
  const candidates = candidatesIn(rows);
  const isLast = (rows[0]?.looked ?? 0) < size;
  const next = cutAt(candidates, limit) ?? (isLast ? null : reachedBy(rows));
  return { candidates, next, sinceMs: 0 };
}

function indexStep(
  rows: readonly WindowRow[],
  { limit, sinceMs }: { limit: number; sinceMs: number },
): Step {
  const candidates = candidatesIn(rows);
  const isLast = (rows[0]?.looked ?? 0) === 0;
  const next = cutAt(candidates, limit) ?? (isLast ? null : reachedBy(rows));
  return { candidates, next, sinceMs };
}

/** How many are found for good, as nothing newer is to be looked at. */
function foundBefore(
  at: Cursor,
  hits: Iterable<Cursor>,
  { sessionId }: Pick<Scope, "sessionId">,
): number {
  let count = 0;
  for (const hit of hits)
    if (sessionId === null ? newestFirst(hit, at) <= 0 : hit.seq >= at.seq) count++;
  return count;
}

async function howFar(
  database: Database,
  scope: Scope,
  at: Cursor | null,
  tail: number,
): Promise<{ looked: number; of: number }> {
  const [[all], [seen]] = await database.askAsOne<[{ count: number }, { count: number }]>([
    countQuestion(scope),
    lookedQuestion(scope, at ?? { ts: Number.MIN_SAFE_INTEGER, sessionId: "", seq: 0 }),
  ]);
  const of = all?.count ?? 0;
  return { of, looked: Math.min(of, tail + (seen?.count ?? 0)) };
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
