// Opens a database for copying sessions into it and out of it, each of them claimed.
import type { Blobs } from "../blob-place.ts";
import { requirePlace } from "../blobs/require-place.ts";
import { clusterId } from "../catalogue.ts";
import { type CostShelf, costShelf, costsOfOthers } from "../cost-lines.ts";
import {
  type Database,
  type KeptInRows,
  largeBodies,
  openDatabase,
  type Statement,
} from "../database.ts";
import { type EngineRow, loadRows, loadRowsOfMany, reserveNumbers } from "../engine-rows.ts";
import { storageFailed } from "../failure.ts";
import type { InboxMessage } from "../inbox.ts";
import { createJobRows, type JobRows } from "../jobs/job-rows.ts";
import { claimQuestion, leaseOf, ownerOf, release } from "../lease.ts";
import { hasTables, migrate } from "../migrate.ts";
import { joinCluster } from "../node.ts";
import { readParts } from "../read.ts";
import { type WholeReport, wholeReports } from "../whole-reports.ts";
import { entryHashes, entryLines } from "./entry-lines.ts";
import { createForgetting, type Forgetting } from "./forgetting.ts";
import {
  type CopySummary,
  type FoundRecord,
  foundRecords,
  foundSession,
  foundSessions,
  removeEmptySession,
} from "./found-sessions.ts";
import {
  bytesOf,
  type FileToKeep,
  type FoundFile,
  filesOfAgents,
  filesOfSession,
  keepFile,
} from "./kept-files.ts";
import { nothingThere, ONLOOKER } from "./nothing-there.ts";
import type { RowsToPut } from "./put-engine-rows.ts";
import {
  type ClaimedRow,
  type CopyRecord,
  putRecord,
  putRowsAlone,
  putSession,
  type SessionToPut,
} from "./put-session.ts";
import { missingParts, partsOf, putParts } from "./report-parts.ts";
import { foundWaiting, putWaiting, type WaitingToPut } from "./waiting-messages.ts";

/** A claim of one session, or whose it is. */
export type CopyClaim =
  | { kind: "claimed"; session: ClaimedSession }
  /** Address of the gateway that has it; null: it has just died. */
  | { kind: "held"; owner: string | null };

/** Nobody else writes it meanwhile. */
export interface ClaimedSession {
  /** As it is now. */
  readonly found: CopySummary;
  /** False: somebody else has it by now, and nothing was stored. Throws STORAGE_FAILED. */
  put(request: { home: string; record: CopyRecord; session: SessionToPut }): Promise<boolean>;
  /**
   * Stores what engines have beside it, where nothing else of it is new; `print` as `rows` of the
   * record. False, and throws, as `put`; the same may be put again.
   */
  putRows(request: { home: string; print: string; rows: readonly RowsToPut[] }): Promise<boolean>;
  /** Gives it up. */
  release(): Promise<void>;
}

/** A database that sessions are copied into or out of. */
export interface PostgresCopy {
  /** Another one for each database. */
  readonly clusterId: string;
  /** Fires when what was claimed may be somebody else's. */
  readonly alive: AbortSignal;
  /** All of them, by agent and key; but for transcripts that are no session yet. */
  sessions(): Promise<CopySummary[]>;
  /** Of all homes, also of sessions that were removed here. */
  records(): Promise<FoundRecord[]>;
  /** One that is not there is made with this id. */
  claim(name: { agentId: string; key: string; sessionId: string }): Promise<CopyClaim>;
  /** Takes away a name under which nothing was said. False: something was, or it is open. */
  removeEmpty(name: { agentId: string; key: string }): Promise<boolean>;
  /** SHA-256 of at most `limit` entries behind a place. */
  hashes(session: SessionOf, part: { after: number; limit: number }): Promise<string[]>;
  /** Entries behind a place as lines; at least one, and then no more than a few megabytes. */
  lines(session: SessionOf, after: number): Promise<{ seq: number; body: string }[]>;
  /** Reports behind the one of a turn (null = the first one), oldest first, with their parts. */
  laterReports(session: SessionOf, after: string | null, limit: number): Promise<WholeReport[]>;
  /** Notes what a home has of a session that was copied into it. */
  note(home: string, record: CopyRecord, found: { step: number; line: number }): Promise<void>;
  /** Those that are not there, by their hashes. */
  missingParts(agentId: string, hashes: readonly string[]): Promise<string[]>;
  /** By their hashes; what is there stays. */
  putParts(agentId: string, parts: ReadonlyMap<string, string>): Promise<void>;
  /** What reports name, by the hashes that are there. */
  parts(agentId: string, hashes: readonly string[]): Promise<Readonly<Record<string, string>>>;
  /** Hashes of all parts of an agent. */
  partsOf(agentId: string): Promise<string[]>;
  /** Changes of what engines acknowledged, behind a place. */
  deliveries(
    session: SessionOf,
    after: number,
  ): Promise<{ line: number; engineId: string; change: string }[]>;
  /** What an engine has beside a session. */
  engineRows(session: SessionOf, engine: string): Promise<EngineRow[]>;
  /** Ids of the engines that have something beside sessions. */
  rowEngines(): Promise<string[]>;
  /** The same of several sessions of an agent, each of those that have some. */
  engineRowsOfMany(of: {
    agentId: string;
    sessionIds: string[];
    engine: string;
  }): Promise<ReadonlyMap<string, readonly EngineRow[]>>;
  /** The first of so many numbers of a kind that nobody else gets. */
  reserveNumbers(kind: string, count: number): Promise<number>;
  /** From now on numbers of a kind that gateways ask for are above this one. */
  keepNumbers(kind: string, last: number): Promise<void>;
  /** Messages that wait, in order. */
  inbox(): Promise<(InboxMessage & { agentId: string; key: string })[]>;
  /** Jobs of people, and how far they are. */
  readonly jobs: JobRows;
  /** What a home wrote down of model calls. */
  costs(home: string): CostShelf;
  /** As of `PostgresReader`. */
  costsOfOthers(home: string): AsyncIterable<{ day: string; text: string }>;
  /** What goes where something is to be forgotten. */
  readonly forgetting: Forgetting;
  /** Kept files that are of no session. */
  files(): Promise<FoundFile[]>;
  /** Kept files of a session. */
  filesOf(session: SessionOf): Promise<FoundFile[]>;
  /** What such a file holds, piece by piece. */
  bytesOf(file: Pick<FoundFile, "home" | "place" | "size">): AsyncIterable<Uint8Array>;
  /** In the place of what was there, and together with messages that wait since. */
  keep(home: string, file: FileToKeep, waiting?: WaitingToPut): Promise<void>;
  /** Gives up what it has, and ends the connections. */
  close(): Promise<void>;
}

type SessionOf = Pick<CopySummary, "agentId" | "sessionId">;

const DELIVERIES: Statement<{ line: number; engine_id: string; change: string }> = {
  name: "copy-deliveries",
  text: `
    select line::float8, engine_id, change from delivery
    where agent_id = $1 and session_id = $2 and line > $3 order by line`,
};

const ROW_ENGINES: Statement<{ engine: string }> = {
  name: "copy-row-engines",
  text: "select distinct engine from engine_row where body is not null order by engine",
};

const CONNECTIONS = 2;
/** A session that is large is stored at once, and its lines in large steps. */
const TIMEOUT_MS = 120_000;
const TTL_MS = 10_000;

/** Brings the tables up to date, and joins the cluster to claim sessions. Throws STORAGE_FAILED. */
export async function openPostgresCopy({
  url,
  address,
  version = "",
  place,
  blobs,
  onKeptInRows,
  isRead = false,
}: {
  /** As `postgres://user:password@host/database`. */
  url: string;
  /** What gateways are told of who has a session. */
  address: string;
  /** For operators. Absent: it is not said. */
  version?: string;
  /** Where only one copies at a time: one that did before is dead, and its claims are free. */
  place: string;
  /** As of `PostgresStoreOptions`. */
  blobs?: ((clusterId: string) => Blobs) | undefined;
  /** As of `PostgresStoreOptions`. */
  onKeptInRows?: ((kept: KeptInRows) => void) | undefined;
  /** True: nothing is written, no table is made, and no session can be claimed. */
  isRead?: boolean;
}): Promise<PostgresCopy> {
  const connect = (connections: number) =>
    openDatabase({ url, connections, timeoutMs: TIMEOUT_MS });
  const database = connect(CONNECTIONS);
  const beats = connect(1);
  const end = async () => void (await Promise.all([database.end(), beats.end()]));
  try {
    if (isRead && !(await hasTables(database))) return nothingThere(end);
    if (!isRead) await migrate(database, place);
    const id = crypto.randomUUID();
    const node = isRead
      ? ONLOOKER
      : await joinCluster({
          ...{ database: beats, id, address, version, ttlMs: TTL_MS, place, publicKey: null },
        });
    const known = await clusterId(database);
    database.blobs = largeBodies({ blobs, onKeptInRows }, known);
    await requirePlace(database);
    return {
      ...{ clusterId: known, alive: node.alive, ...reading(database) },
      async claim({ agentId, key, sessionId }) {
        node.requireAlive();
        if (node === ONLOOKER) return { kind: "held", owner: null };
        const [[row]] = await database.askTogether([
          claimQuestion({ agentId, key, id: sessionId }, node.id),
        ]);
        if (row === undefined)
          return { kind: "held", owner: await ownerOf(database, { agentId, key }) };
        const lease = leaseOf(row);
        const found = await foundSession(database, { agentId, key });
        const claimed: ClaimedRow = {
          ...{ agentId, sessionId: row.id, epoch: row.epoch, step: row.step },
          ...{ head: row.head_seq, line: row.head_line },
        };
        return {
          kind: "claimed",
          session: {
            found: found!,
            put: (request) => putSession(database, claimed, request),
            putRows: (request) => putRowsAlone(database, claimed, request),
            release: () => release(database, lease, node.id),
          },
        };
      },
      async close() {
        await node.leave().finally(end);
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

function reading(
  database: Database,
): Omit<PostgresCopy, "clusterId" | "alive" | "claim" | "close"> {
  return {
    sessions: () => foundSessions(database),
    records: () => foundRecords(database),
    removeEmpty: (name) => removeEmptySession(database, name),
    hashes: (session, part) => entryHashes(database, session, part),
    lines: (session, after) => entryLines(database, session, after),
    laterReports: (session, afterTurn, limit) =>
      wholeReports(database, session, { afterTurn, limit }),
    note: (home, record, found) => putRecord(database, home, record, found),
    parts: (agentId, hashes) => readParts(database, agentId, hashes),
    missingParts: (agentId, hashes) => missingParts(database, agentId, hashes),
    putParts: (agentId, parts) => putParts(database, agentId, parts),
    partsOf: (agentId) => partsOf(database, agentId),
    deliveries: async ({ agentId, sessionId }, after) =>
      (await database.ask(DELIVERIES, [agentId, sessionId, after])).map((row) => ({
        ...{ line: row.line, engineId: row.engine_id, change: row.change },
      })),
    engineRows: (session, engine) => loadRows(database, { ...session, engine }),
    engineRowsOfMany: (of) => loadRowsOfMany(database, of),
    reserveNumbers: (kind, count) => reserveNumbers(database, kind, { count, above: 0 }),
    rowEngines: async () => (await database.ask(ROW_ENGINES, [])).map(({ engine }) => engine),
    keepNumbers: async (kind, last) =>
      void (await reserveNumbers(database, kind, { count: 0, above: last })),
    inbox: () => foundWaiting(database),
    jobs: createJobRows(database),
    costs: (home) => costShelf(database, home),
    costsOfOthers: (home) => costsOfOthers(database, home),
    forgetting: createForgetting(database),
    files: () => filesOfAgents(database),
    filesOf: (session) => filesOfSession(database, session),
    bytesOf: (file) => bytesOf(database, file),
    keep: (home, file, waiting) =>
      database
        .together(async (ask) => {
          await keepFile(ask, home, file);
          if (waiting !== undefined) await putWaiting(ask, waiting);
        })
        .catch((error: unknown) => {
          throw hasSystemCode(error) ? error : storageFailed(error);
        }),
  };
}

/** Of a file that was to be read, and not of the database. */
const hasSystemCode = (error: unknown): boolean =>
  error instanceof Error && "syscall" in error && "path" in error;
