// Stores the steps of one session for whoever keeps its branch.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { putBodies } from "./blobs/put-bodies.ts";
import { closed, firstOf, followedFrom, type OpenRange, type Range } from "./branch.ts";
import type { Database, Statement } from "./database.ts";
import { type EngineRow, type RowsOutcome, storeRows } from "./engine-rows.ts";
import { stepFailed } from "./failure.ts";
import { leaseOf, release, type SessionRow } from "./lease.ts";
import type { ClusterNode } from "./node.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import type { Ledger, LineOf, StoredSession, StoredStep, StorePorts } from "./ports.ts";
import { namedBy, type StepOutcome, type StepRows, storeStep } from "./step.ts";

/** What a session held when it was opened. */
export interface LogState {
  /** How many entries, of all branches. */
  head: number;
  /** The entry that the next one follows; null = there is none. */
  lastEntry: string | null;
  /** The first line of its file; null = nobody said. */
  header: string | null;
  /** As of `StoredSummary`. */
  base: string | null;
}

/** What is stored together, with entries that have their places. */
export interface LogStep<Line> extends Omit<StoredStep, "entries" | "deliveries"> {
  /** Behind what the session has, in their order. */
  entries: readonly TranscriptEntry[];
  /** What engines acknowledged or refused, in order. */
  deliveries: readonly Line[];
  /**
   * The entries follow this many of the branch, the last of which has this id (null = none).
   * Absent: they follow all.
   */
  follows?: { keep: number; leafId: string | null } | undefined;
  /** True: a user message in it begins a turn, unless one runs. Absent: it is of no turn. */
  isOfTurn?: boolean;
  /** True: the turn that was open is over, without a report. Absent: a report ends it. */
  endsTurn?: boolean;
  /** The first line of the session's file, as long as nobody said it. Absent: nobody does. */
  header?: string | undefined;
  /**
   * Names of messages in the inbox that it says: they wait no more when it is stored. Throws
   * TRANSCRIPT_MOVED, and stores nothing, where one does not wait. Absent: none is.
   */
  said?: readonly string[];
}

/** One session, open for writing, whose branch its opener keeps. */
export interface SessionLog<Kept extends Ledger> {
  /** Which session this is. */
  readonly session: StoredSession;
  /** What each engine has acknowledged. */
  readonly deliveries: Kept;
  /** Id of the entry with which a turn began that had not ended when it was opened; null: none. */
  readonly openTurn: string | null;
  /** As it was opened. */
  readonly found: LogState;
  /** All of it or nothing, after the steps before. Its entries as they are stored, a line each. */
  store(step: LogStep<LineOf<Kept>>): Promise<readonly string[]>;
  /** Puts another report in the place of the newest one of this opening. */
  amendReport(report: unknown): Promise<void>;
  /**
   * Puts rows of an engine in the place of those of their names, all of them or none: "lost" = the
   * session is somebody else's, or was closed. Throws STORAGE_FAILED where nobody knows; the same
   * may be stored again then.
   */
  storeRows(engine: string, rows: readonly EngineRow[]): Promise<RowsOutcome>;
  /** Counts another try to go on with the open turn; which one it is. */
  tryTurn(): Promise<number>;
  /** After what is under way, gives the session up; what comes then is refused: SESSION_CLOSED. */
  close(): Promise<void>;
}

export interface LogOptions<Kept extends Ledger> {
  database: Database;
  ports: StorePorts<Kept>;
  /** Whose it is; what comes when that may no longer act is refused. */
  node: Pick<ClusterNode, "id" | "lives" | "requireAlive">;
  row: SessionRow;
  /** Its name for the host, while the row has a passing one. */
  sessionKey: string;
  deliveries: readonly LineOf<Kept>[];
  /** Somebody else has it, or it was closed. */
  onEnd(): void;
}

/** The same with what only this package needs. */
export interface OwnLog<Kept extends Ledger> extends SessionLog<Kept> {
  /** Runs work after the steps before it; it is refused where the session is over. */
  enqueue<Result>(work: () => Promise<Result>): Promise<Result>;
  /** As `store`, for whoever has the turn already. */
  storeNow(step: LogStep<LineOf<Kept>>): Promise<readonly string[]>;
  leaf(): string | null;
  /** Of its branch. */
  readonly ranges: readonly Range[];
}

/** Kept as a hint that a part is stored; more is not worth its memory. */
const KNOWN_PARTS = 10_000;

export function openLog<Kept extends Ledger>(options: LogOptions<Kept>): OwnLog<Kept> {
  const { database, ports, row, node } = options;
  const lease = leaseOf(row);
  const session = { agentId: row.agent_id, sessionId: row.id, sessionKey: options.sessionKey };
  const inTurn = oneAtATime();
  const knownParts = new Set<string>();
  let { head_seq: head, last_entry: leaf, step: at } = row;
  let branch: readonly OpenRange[] = row.branch;
  let reportedAt: number | undefined;
  let ended: ContextEngineError | undefined;
  let closing: Promise<void> | undefined;
  let rowStep = 0;

  const enqueue = <Result>(work: () => Promise<Result>): Promise<Result> =>
    inTurn(async () => {
      if (ended !== undefined) throw ended;
      // Others may have it in a moment, and go on from what is stored now.
      node.requireAlive();
      return work();
    });
  const deliveries = ports.createLedger({
    earlier: options.deliveries,
    write: (engineId, change) =>
      enqueue(async () => {
        await write({ ...NOTHING, deliveries: [{ engineId, change } as LineOf<Kept>] });
      }),
  });

  async function write(step: LogStep<LineOf<Kept>>): Promise<readonly string[]> {
    const { entries, follows, report, header = null, said = [] } = step;
    const rows: StepRows = {
      entries: entries.map((entry) => rowOf(entry)),
      deliveries: step.deliveries.map(({ engineId, change }) => ({
        ...{ engineId, change: stringify(change) },
      })),
      report: report && {
        turn: report.report.turnId,
        body: stringify(report.report),
        parts: Object.entries(report.parts).flatMap(([hash, body]) =>
          knownParts.has(hash) ? [] : [{ hash, body }],
        ),
        names: Object.keys(report.parts),
      },
      branch: follows === undefined ? null : branchAfter(follows.keep),
      leaf: entries.at(-1)?.id ?? (follows === undefined ? null : (follows.leafId ?? "")),
      turn:
        report !== null || step.endsTurn === true
          ? ""
          : step.isOfTurn === true
            ? beginOf(entries)
            : null,
      ...{ header, said },
    };
    const outcome = await storePlaced(rows);
    if (outcome === "gone") throw takenBack(session);
    if (outcome !== "stored") throw end(outcome === "fenced" ? taken(session) : moved(session));
    at += 1;
    if (report !== null) reportedAt = at;
    head += entries.length;
    branch = rows.branch ?? branch;
    if (rows.leaf !== null) leaf = rows.leaf === "" ? null : rows.leaf;
    if (knownParts.size > KNOWN_PARTS) knownParts.clear();
    for (const { hash } of rows.report?.parts ?? []) knownParts.add(hash);
    return rows.entries.map(({ body }) => body);
  }

  /** Large bodies elsewhere; where they were taken away meanwhile, in their rows. */
  async function storePlaced(rows: StepRows): Promise<StepOutcome> {
    const placed = await withPlaces(database, session, rows);
    const store = (these: StepRows) =>
      storeStep(database, { lease, at, token: crypto.randomUUID(), rows: these }).catch(
        (error: unknown) => {
          throw end(stepFailed(session.sessionKey, error));
        },
      );
    const outcome = await store(placed);
    return outcome === "gone" && namedBy(placed).length > 0 ? store(rows) : outcome;
  }
  async function storeNow(step: LogStep<LineOf<Kept>>): Promise<readonly string[]> {
    const lines = await write(step);
    deliveries.take(step.deliveries);
    return lines;
  }
  function branchAfter(keep: number): readonly OpenRange[] {
    return followedFrom(firstOf(closed(branch, head), keep), head);
  }
  function end(error: ContextEngineError): ContextEngineError {
    ended ??= error;
    options.onEnd();
    return error;
  }

  return {
    ...{ session, deliveries, enqueue, storeNow, openTurn: row.turn },
    ranges: closed(row.branch, row.head_seq),
    found: { head: row.head_seq, lastEntry: row.last_entry, header: row.header, base: row.base },
    leaf: () => leaf,
    store: (step) => enqueue(() => storeNow(step)),
    amendReport: (report) =>
      enqueue(async () => {
        if (reportedAt === undefined) return;
        const { agentId, sessionId, epoch } = lease;
        const values = [agentId, sessionId, epoch, reportedAt, stringify(report)];
        if ((await database.ask(AMEND, values)).length === 0) throw end(taken(session));
      }),
    async storeRows(engine, rows) {
      if (ended !== undefined || closing !== undefined || !node.lives()) return "lost";
      const { agentId, sessionId, epoch } = lease;
      rowStep += 1;
      return storeRows(database, { agentId, sessionId, engine, epoch, step: rowStep }, rows);
    },
    tryTurn: () =>
      enqueue(async () => {
        const { agentId, sessionId, epoch } = lease;
        const [row] = await database.ask(TRY_TURN, [agentId, sessionId, epoch]);
        if (row === undefined) throw end(taken(session));
        return row.turn_tries;
      }),
    close() {
      closing ??= inTurn(async () => {
        try {
          if (ended === undefined) await release(database, lease, node.id);
        } finally {
          end(closedError(session));
        }
      });
      return closing;
    },
  };
}

/** The same rows, large bodies elsewhere. Throws STORAGE_FAILED, and nothing is stored then. */
async function withPlaces(
  database: Database,
  session: StoredSession,
  rows: StepRows,
): Promise<StepRows> {
  if (database.blobs === undefined) return rows;
  const { entries, report } = rows;
  const parts = report?.parts ?? [];
  const places = await putBodies(
    database,
    session,
    [...entries, ...parts].map(({ body }) => body),
  );
  const ofParts = places.slice(entries.length);
  return {
    ...rows,
    entries: entries.map((entry, index) => ({ ...entry, ...places[index] })),
    report: report && {
      ...report,
      parts: parts.map((part, index) => ({ ...part, ...ofParts[index] })),
    },
  };
}

/** A step in which nothing is stored. */
export const NOTHING = { entries: [], deliveries: [], report: null };

const AMEND = {
  name: "report-amend",
  text: `
    update report r set body = $5 from session s
    where s.agent_id = $1 and s.id = $2 and s.epoch = $3
      and r.agent_id = $1 and r.session_id = $2 and r.step = $4
    returning r.step`,
};

const TRY_TURN: Statement<{ turn_tries: number }> = {
  name: "turn-try",
  text: `
    update session set turn_tries = turn_tries + 1
    where agent_id = $1 and id = $2 and epoch = $3
    returning turn_tries`,
};

/** Such a step may begin a turn, or go on with one: the first to say something began it. */
const beginOf = (entries: readonly TranscriptEntry[]): string | null =>
  entries.find((entry) => entry.type === "message" && entry.message.role === "user")?.id ?? null;

const stringify = (value: unknown): string => JSON.stringify(value);

const ROLES = ["", "user", "assistant", "toolResult"];

function rowOf(entry: TranscriptEntry) {
  const role = entry.type === "message" ? ROLES.indexOf(entry.message.role) : 0;
  const ts = Date.parse(entry.timestamp);
  return {
    id: entry.id,
    role: role < 0 ? ROLES.length : role,
    ts: Number.isNaN(ts) ? 0 : ts,
    body: stringify(entry),
  };
}

const taken = ({ sessionKey }: StoredSession) =>
  new ContextEngineError(
    "SESSION_LOCKED",
    `The session ${sessionKey} is another gateway's by now, and nothing was stored; ask again.`,
  );

const takenBack = ({ sessionKey }: StoredSession) =>
  new ContextEngineError(
    "TRANSCRIPT_MOVED",
    `A message for the session ${sessionKey} was taken back meanwhile, and nothing was stored.`,
  );

const moved = ({ sessionKey }: StoredSession) =>
  new ContextEngineError(
    "TRANSCRIPT_MOVED",
    `Somebody else wrote to the session ${sessionKey} in this gateway's name, and nothing was stored; open it again.`,
  );

const closedError = ({ sessionKey }: StoredSession) =>
  new ContextEngineError("SESSION_CLOSED", `The session ${sessionKey} was closed.`);
