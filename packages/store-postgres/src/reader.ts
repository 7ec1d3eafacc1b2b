// Reads sessions of a cluster without owning one.

import { type Beginning, readBeginnings } from "./beginnings.ts";
import type { Blobs } from "./blob-place.ts";
import { requirePlace } from "./blobs/require-place.ts";
import { clusterId, findSession, listSessions, type StoredSummary } from "./catalogue.ts";
import { type ChildRow, listChildren } from "./children.ts";
import { bytesOf, type FoundFile, filesOfSession } from "./copy/kept-files.ts";
import { costsOfOthers } from "./cost-lines.ts";
import {
  type Database,
  type KeptInRows,
  largeBodies,
  openDatabase,
  type RoundTrip,
} from "./database.ts";
import { dutyOwner } from "./duties.ts";
import { type EngineRow, hasRows, loadRows, loadRowsOfMany } from "./engine-rows.ts";
import { type InboxMessage, listMessages } from "./inbox.ts";
import { createJobRows, type JobRows } from "./jobs/job-rows.ts";
import { type QueueStanding, queueStandings } from "./jobs/queue-standings.ts";
import { ownerOf, standings } from "./lease.ts";
import { migrate } from "./migrate.ts";
import { livingNodes } from "./node.ts";
import type { Ledger, StoredSession, StorePorts } from "./ports.ts";
import {
  deliveriesQuestion,
  placeOfEntry,
  readLog,
  readPart,
  readParts,
  readReports,
} from "./read.ts";
import { createSearching, type Searching } from "./search/searching.ts";
import { type StoredReport, type WholeReport, wholeReports } from "./whole-reports.ts";

/** What sessions are read with. */
export interface PostgresReaderOptions<Kept extends Ledger> {
  /** As `postgres://user:password@host/database`. */
  url: string;
  /** What the store needs of packages beside it. */
  ports: StorePorts<Kept>;
  /**
   * Where bodies of more than 64 KiB of this database (each has an id of its own) are kept. Absent:
   * in the database, as all others.
   */
  blobs?: ((clusterId: string) => Blobs) | undefined;
  /** Told of large bodies that `blobs` did not take, and that are in rows. Absent: nobody is. */
  onKeptInRows?: ((kept: KeptInRows) => void) | undefined;
  /** Absent: 2. */
  connections?: number;
  /** An answer that takes longer is not waited for, ms. Absent: 15 s. */
  timeoutMs?: number;
  /** Told of every round trip that was answered. Absent: nobody is. */
  onRoundTrip?: (trip: RoundTrip) => void;
}

/** A session by its name. */
export interface SessionName {
  /** Whose session it is. */
  agentId: string;
  /** Its stable name. */
  key: string;
}

/** A session, and a message that may wait for it. */
export interface AskedStanding extends SessionName {
  /** The sender's name of a message; null: none is asked for. */
  message: string | null;
}

/** How a session stands. */
export interface SessionStanding {
  /** Of the gateway that has it open; null: none that lives. */
  address: string | null;
  /** A turn has begun in it that has not ended. */
  inTurn: boolean;
  /** The message that was asked for waits. */
  isKept: boolean;
}

/** A transcript. */
export type SessionId = Pick<StoredSession, "agentId" | "sessionId">;

/** What can be read of sessions without owning one. */
export interface PostgresReader<Kept extends Ledger> extends Searching {
  /** Another one for each database. */
  readonly clusterId: string;
  /** Sessions in which something was said, in no order. */
  list(): Promise<StoredSummary[]>;
  /** How sessions begin, with the first rows that an engine has beside each; in their order. */
  beginnings(
    sessions: readonly { agentId: string; sessionId: string }[],
    engine: string,
  ): Promise<Beginning[]>;
  /** Also of one in which nothing was said yet; null: there is none. */
  find(name: SessionName): Promise<StoredSummary | null>;
  /** At most `limit` entries behind a place of the log, as lines, whatever their branch. */
  log(
    session: SessionId,
    part: { after: number; limit: number },
  ): Promise<{ seq: number; body: string }[]>;
  /** Where an entry stands in the log; null: it is not there. */
  placeOf(session: SessionId, entryId: string): Promise<number | null>;
  /** What an engine keeps beside a session; rows that are gone are not told. */
  engineRows(session: SessionId, engine: string): Promise<EngineRow[]>;
  /** The same of several sessions of an agent, by their ids: of those that have some. */
  engineRowsOfMany(of: {
    agentId: string;
    sessionIds: string[];
    engine: string;
  }): Promise<Map<string, EngineRow[]>>;
  /** Whether an engine keeps something beside a session. */
  hasEngineRows(name: SessionName, engine: string): Promise<boolean>;
  /** What gateways know of sessions that others started, in no order. */
  children(): Promise<ChildRow[]>;
  /** Address of the gateway that has a duty; null: none that lives. */
  dutyOwner(duty: string): Promise<string | null>;
  /** What engines have acknowledged, as it is stored now. */
  deliveries(name: SessionName): Promise<Kept>;
  /** Address of the gateway that has it open; null: none that lives. */
  ownerOf(name: SessionName): Promise<string | null>;
  /** The same of many sessions and more, in one statement and in their order. */
  standings(asked: readonly AskedStanding[]): Promise<SessionStanding[]>;
  /** Messages that wait for their turn in a session, in order. */
  waiting(name: SessionName): Promise<InboxMessage[]>;
  /** Reports of a session, newest first; `before`: of earlier steps than this. */
  reports(session: SessionId, part: { before?: number; limit: number }): Promise<StoredReport[]>;
  /** Reports behind the one of a turn (null = the first one), oldest first, with their parts. */
  laterReports(
    session: SessionId,
    part: { afterTurn: string | null; limit: number },
  ): Promise<WholeReport[]>;
  /** Files of a session that were copied as they are. */
  keptFiles(session: SessionId): Promise<FoundFile[]>;
  /** What such a file holds, piece by piece. */
  bytesOf(file: Pick<FoundFile, "home" | "place" | "size">): AsyncIterable<Uint8Array>;
  /** What reports name, by the hashes that are there. */
  parts(agentId: string, hashes: readonly string[]): Promise<Readonly<Record<string, string>>>;
  /** What reports name by its hash; null: it is not there. */
  part(agentId: string, hash: string): Promise<string | null>;
  /** What other homes' gateways wrote down of model calls, each day's lines in their order. */
  costsOfOthers(home: string): AsyncIterable<{ day: string; text: string }>;
  /** Jobs of people, and how far they are. */
  readonly jobs: JobRows;
  /** Gateways that live. */
  gateways(): Promise<number>;
  /** How the queues stand that gateways work on; none: no gateway has worked on any. */
  queues(): Promise<QueueStanding[]>;
  /** Ends the connections. */
  close(): Promise<void>;
}

/** Reads without joining the cluster; the tables must be there. */
export async function openPostgresReader<Kept extends Ledger>(
  options: PostgresReaderOptions<Kept>,
): Promise<PostgresReader<Kept>> {
  const { url, connections = 2, timeoutMs = 15_000, onRoundTrip } = options;
  const database = openDatabase({ url, connections, timeoutMs, onRoundTrip });
  try {
    await migrate(database);
    const known = await clusterId(database);
    database.blobs = largeBodies(options, known);
    await requirePlace(database);
    return createReader(options.ports, { database, searches: database }, known);
  } catch (error) {
    await database.end();
    throw error;
  }
}

/** One for what turns wait for, and one for what takes longer. */
export interface Databases {
  database: Database;
  searches: Database;
}

export function createReader<Kept extends Ledger>(
  ports: StorePorts<Kept>,
  { database, searches }: Databases,
  clusterId: string,
): PostgresReader<Kept> {
  return {
    ...createSearching(searches, ports),
    clusterId,
    list: () => listSessions(database),
    find: (name) => findSession(database, name),
    beginnings: (sessions, engine) => readBeginnings(database, sessions, engine),
    log: (session, { after, limit }) => readLog(database, session, after, limit),
    engineRows: (session, engine) => loadRows(database, { ...session, engine }),
    engineRowsOfMany: (of) => loadRowsOfMany(database, of),
    hasEngineRows: ({ agentId, key }, engine) => hasRows(database, { agentId, key, engine }),
    dutyOwner: (duty) => dutyOwner(database, duty),
    placeOf: (session, entryId) => placeOfEntry(database, session, entryId),
    async deliveries(name) {
      const [lines] = await database.askTogether([deliveriesQuestion(name)]);
      return ports.createLedger({ earlier: linesOf(lines), write: async () => {} });
    },
    ownerOf: (name) => ownerOf(database, name),
    standings: (asked) => standings(database, asked),
    waiting: (name) => listMessages(database, name),
    reports: async ({ agentId, sessionId }, { before = Number.MAX_SAFE_INTEGER, limit }) =>
      (await readReports(database, agentId, sessionId, before, limit)).map(({ step, body }) => ({
        step,
        report: JSON.parse(body),
      })),
    laterReports: (session, part) => wholeReports(database, session, part),
    keptFiles: (session) => filesOfSession(database, session),
    bytesOf: (file) => bytesOf(database, file),
    parts: (agentId, hashes) => readParts(database, agentId, hashes),
    part: (agentId, hash) => readPart(database, agentId, hash),
    costsOfOthers: (home) => costsOfOthers(database, home),
    jobs: createJobRows(database),
    children: () => listChildren(database),
    queues: () => queueStandings(database),
    gateways: () => livingNodes(database),
    close: () => database.end(),
  };
}

export const linesOf = (lines: readonly { engine_id: string; change: string }[]) =>
  lines.map(({ engine_id: engineId, change }) => ({ engineId, change: JSON.parse(change) }));
