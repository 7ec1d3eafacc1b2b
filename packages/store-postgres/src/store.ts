// The sessions of a cluster of gateways, as one gateway opens them.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Blobs } from "./blob-place.ts";
import { requirePlace } from "./blobs/require-place.ts";
import { dropUnnamed, type SweptBlobs, sweepBlobs } from "./blobs/sweep-blobs.ts";
import { wholeBodies } from "./blobs/whole-bodies.ts";
import { closed } from "./branch.ts";
import {
  clusterId,
  findSession,
  labelSession,
  listSessions,
  removeSession,
  renewSession,
  type StoredSummary,
} from "./catalogue.ts";
import { bytesOf, type FoundFile, filesOfSession } from "./copy/kept-files.ts";
import {
  type Database,
  type KeptInRows,
  largeBodies,
  openDatabase,
  type RoundTrip,
} from "./database.ts";
import { type DutyPlace, dutyOwner, takeDuty } from "./duties.ts";
import {
  type EngineRow,
  hasRows,
  loadRows,
  loadRowsOfMany,
  reserveNumbers,
} from "./engine-rows.ts";
import {
  dropMessages,
  type InboxMessage,
  keepMessage,
  type LeftWork,
  leftWork,
  listMessages,
  takeBackMessages,
} from "./inbox.ts";
import { createJobRows, type JobRows } from "./jobs/job-rows.ts";
import { openQueue, type PostgresQueue } from "./jobs/queue.ts";
import { type QueueStanding, queueStandings } from "./jobs/queue-standings.ts";
import { claimQuestion, ownerOf, type SessionRow, standings, sweep } from "./lease.ts";
import { migrate } from "./migrate.ts";
import {
  ANSWERS_IN,
  type ClusterNode,
  joinCluster,
  livingNodes,
  quietly,
  STOPS_AT,
} from "./node.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import type { Ledger, StoredSession, StorePorts } from "./ports.ts";
import {
  deliveriesQuestion,
  newestQuestion,
  placeOfEntry,
  readLog,
  readPart,
  readParts,
  readReports,
} from "./read.ts";
import { createSearching, type Searching } from "./search/searching.ts";
import { makeTrigramIndex } from "./search/trigrams.ts";
import { openLog, type SessionLog } from "./session-log.ts";
import { begin, moveTo } from "./successor.ts";
import { openTranscript, type PostgresTranscript } from "./transcript.ts";
import { type StoredReport, type WholeReport, wholeReports } from "./whole-reports.ts";

/** What a store is opened with. */
export interface PostgresStoreOptions<Kept extends Ledger> {
  /** As `postgres://user:password@host/database`. */
  url: string;
  /** Where other gateways reach this one. */
  address: string;
  /** Of this gateway, for operators. Absent: it is not said. */
  version?: string;
  /**
   * Where it runs that only one process can be at a time, such as its home: one that was there
   * before is dead, and its sessions are free at once. Absent: they are when it counts as dead.
   */
  place?: string;
  /** What the store needs of packages beside it. */
  ports: StorePorts<Kept>;
  /**
   * Where bodies of more than 64 KiB of this database (each has an id of its own) are kept. Absent:
   * in the database, as all others.
   */
  blobs?: ((clusterId: string) => Blobs) | undefined;
  /** Told of large bodies that `blobs` did not take, and that are in rows. Absent: nobody is. */
  onKeptInRows?: ((kept: KeptInRows) => void) | undefined;
  /** A gateway that was not heard of for so long is dead, ms. Absent: 10 s. */
  ttlMs?: number;
  /** Connections for turns; one more says that this gateway lives, and two search. Absent: 10. */
  connections?: number;
  /** An answer that takes longer is not waited for, ms. Absent: 15 s. */
  timeoutMs?: number;
  /** ms since the epoch. Absent: `Date.now`. */
  now?: () => number;
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
  /** Jobs of people, and how far they are. */
  readonly jobs: JobRows;
  /** Gateways that live. */
  gateways(): Promise<number>;
  /** How the queues stand that gateways work on; none: no gateway has worked on any. */
  queues(): Promise<QueueStanding[]>;
  /** Ends the connections. */
  close(): Promise<void>;
}

/** What a sweep is asked for. */
export interface SweepRequest {
  /** Sessions that are claimed at most. Absent: 20. */
  limit?: number;
  /** Keys of sessions that the caller looks after. Absent: those that are open. */
  known?: readonly string[];
}

/** What a sweep found. */
export interface Swept {
  /** Claimed for this gateway. */
  sessions: SweptSession[];
  /** For sessions of this gateway, and such as are not there yet, by their names. */
  messages: (SessionName & { name: string })[];
}

/** A session that nobody worked on. */
export interface SweptSession extends SessionName {
  /** Id of the entry with which a turn began that has not ended; null: none. */
  openTurn: string | null;
}

/** One gateway's part in a cluster. */
export interface PostgresStore<Kept extends Ledger> extends PostgresReader<Kept> {
  /** Fires when this gateway may no longer act: no new model call, no new tool. */
  readonly alive: AbortSignal;
  /**
   * Opens for writing; a key without a session gets one. Throws SESSION_LOCKED while somebody who
   * lives has it open, STORAGE_FAILED.
   */
  open(name: SessionName): Promise<PostgresTranscript<Kept>>;
  /** The same for who keeps the branch elsewhere, and reads nothing of it. */
  openLog(name: SessionName): Promise<SessionLog<Kept>>;
  /**
   * Gives a key a new transcript; the old one is kept under `archivedKey`. False: somebody has it
   * open, or nothing was said in it.
   */
  renew(renewal: SessionName & { sessionId: string; archivedKey: string }): Promise<boolean>;
  /** Gives a session a name beside its key, or takes it away (null). False: there is none. */
  label(name: SessionName, label: string | null): Promise<boolean>;
  /**
   * Takes a session away with all that is its own, also of what is kept elsewhere; what cannot be
   * reached there goes with a later sweep. False: it is open, or there is none.
   */
  remove(name: SessionName): Promise<boolean>;
  /**
   * Moves a session to the transcript `sessionId`, which gets the session's key, and opens it:
   * compare-and-set, so undefined when it has another transcript than `from` by now. The old one
   * is kept under `archivedKey`.
   */
  adopt(move: {
    from: StoredSession;
    sessionId: string;
    archivedKey: string;
    /** Awaited with the opened transcript before the session is moved to it. */
    prepare(successor: PostgresTranscript<Kept>): Promise<void>;
  }): Promise<PostgresTranscript<Kept> | undefined>;
  /**
   * Keeps a message that waits for its turn in a session, which need not be there yet; durable when
   * it resolves. Gives what is kept under its name, which may have been there.
   */
  keep(name: SessionName, message: InboxMessage): Promise<InboxMessage>;
  /** What is to be done in a session: messages, and a turn that nobody who lives goes on with. */
  left(name: SessionName): Promise<LeftWork>;
  /** Messages of these names do not wait any more. */
  drop(name: SessionName, names: readonly string[]): Promise<void>;
  /** The same of the message with this id (null: of all); how many did wait. */
  takeBack(name: SessionName, id: string | null): Promise<number>;
  /**
   * The first of `count` numbers of a kind, all above `above`, that nobody else of this database
   * gets.
   */
  reserveNumbers(kind: string, of: { count: number; above: number }): Promise<number>;
  /**
   * Takes a duty, by a name that all gateways call it by, where nobody who lives has it; it is kept
   * as long as this gateway lives.
   */
  takeDuty(duty: string): Promise<DutyPlace>;
  /**
   * Claims sessions with a turn or a message that nobody works on, as their gateway is dead or gave
   * them up, and tells of all messages that this gateway is to say. What it claimed it opens.
   */
  sweep(request?: SweepRequest): Promise<Swept>;
  /**
   * Takes away what is kept elsewhere and was named by nothing for `olderThanMs`; of several
   * gateways any may, at any time. Throws STORAGE_FAILED; a later one goes on.
   */
  sweepBlobs(request: { olderThanMs: number; signal?: AbortSignal }): Promise<SweptBlobs>;
  /**
   * Takes part in what gateways of the database work on; made by pg-boss in a schema of its own.
   * To be stopped before the store is closed. Throws STORAGE_FAILED.
   */
  openQueue(options: QueueSettings): Promise<PostgresQueue>;
  /** Hands over all sessions of this gateway, and ends the connections. */
  close(): Promise<void>;
}

/** How a gateway works on queues. */
export interface QueueSettings {
  /** Told once of what fails, until something is done again. One sentence. */
  onTrouble(why: string): void;
  /** How often it is looked for work of gateways that died, seconds. Absent: 10. */
  superviseSeconds?: number;
  /** How often it looks for work that others sent, seconds. Absent: 5. */
  pollSeconds?: number;
}

/** As many as most turns need. */
const TAIL = 64;
/** The part of its time that a gateway has for what is under way when it may no longer act. */
const LAST_WORDS = 0.1;

/** Making an index of what is there already may take minutes; searches bound themselves. */
const SEARCHES = { connections: 2, timeoutMs: 30 * 60_000 };

/**
 * Brings the database up to date and joins its cluster. Throws STORAGE_FAILED.
 * @example
 * ```ts
 * import { openPostgresStore } from "@clew/store-postgres";
 *
 * const ports = {
 *   createLedger: () => ({ take() {} }),
 *   planRewrite: () => ({ kind: "nothing", result: { changed: false } }) as never,
 * };
 * const url = "postgres://127.0.0.1:1/nobody-listens-there";
 * const opening = openPostgresStore({ url, address: "http://10.0.0.7:18789", ports });
 * await opening.catch(({ code }) => console.log(code));
 * ```
 *
 * ```text
 * STORAGE_FAILED
 * ```
 */
export async function openPostgresStore<Kept extends Ledger>(
  options: PostgresStoreOptions<Kept>,
): Promise<PostgresStore<Kept>> {
  const { url, ttlMs = 10_000, timeoutMs = 15_000, onRoundTrip } = options;
  // Whoever was not heard of for so long may not go on in any case.
  const patienceMs = ttlMs * STOPS_AT;
  const connect = (connections: number, timeout: number) =>
    openDatabase({ url, connections, timeoutMs: timeout, patienceMs, onRoundTrip });
  const database = connect(options.connections ?? 10, timeoutMs);
  const beats = connect(1, Math.min(timeoutMs, ttlMs * ANSWERS_IN));
  const searches = openDatabase({ url, onRoundTrip, ...SEARCHES });
  const all = [database, beats, searches];
  const end = async () => void (await Promise.all(all.map((each) => each.end())));
  try {
    await migrate(database);
    await makeTrigramIndex(searches);
    const known = await clusterId(database);
    for (const each of [database, searches]) each.blobs = largeBodies(options, known);
    await requirePlace(database);
    const { address, version = "", place = null } = options;
    const id = crypto.randomUUID();
    const node = await joinCluster({ database: beats, id, address, version, ttlMs, place });
    // A gateway that ends must not wait for who does not answer.
    const abandon = () => all.forEach((each) => void each.abandon());
    node.alive.addEventListener("abort", () => quietly(setTimeout(abandon, ttlMs * LAST_WORDS)));
    return createStore(options, { database, searches }, { node, clusterId: known }, end);
  } catch (error) {
    await end();
    throw error;
  }
}

/** Reads without joining the cluster; the tables must be there. */
export async function openPostgresReader<Kept extends Ledger>(
  options: Omit<PostgresStoreOptions<Kept>, "address" | "version" | "place" | "ttlMs" | "now">,
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
interface Databases {
  database: Database;
  searches: Database;
}

function createReader<Kept extends Ledger>(
  ports: StorePorts<Kept>,
  { database, searches }: Databases,
  clusterId: string,
): PostgresReader<Kept> {
  return {
    ...createSearching(searches, ports),
    clusterId,
    list: () => listSessions(database),
    find: (name) => findSession(database, name),
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
    jobs: createJobRows(database),
    queues: () => queueStandings(database),
    gateways: () => livingNodes(database),
    close: () => database.end(),
  };
}

const linesOf = (lines: readonly { engine_id: string; change: string }[]) =>
  lines.map(({ engine_id: engineId, change }) => ({ engineId, change: JSON.parse(change) }));

function createStore<Kept extends Ledger>(
  { ports, now = Date.now }: PostgresStoreOptions<Kept>,
  databases: Databases,
  { node, clusterId }: { node: ClusterNode; clusterId: string },
  end: () => Promise<void>,
): PostgresStore<Kept> {
  const { database } = databases;
  /** What this gateway has open or opens now, and which opening that is. */
  const open = new Map<string, symbol>();

  /** Of openings of one session at once only the first goes on. */
  async function inPlace<Result>(
    name: SessionName,
    work: (opening: symbol) => Promise<Result>,
  ): Promise<Result> {
    const place = placeOf(name);
    const opening = Symbol(place);
    node.requireAlive();
    if (open.has(place)) throw openHere(name);
    open.set(place, opening);
    try {
      return await work(opening);
    } catch (error) {
      forget(opening);
      throw error;
    }
  }
  const claim = (
    name: SessionName,
    { id, sessionKey = name.key }: { id: string; sessionKey?: string },
  ): Promise<{ transcript: PostgresTranscript<Kept>; opening: symbol }> =>
    inPlace(name, async (opening) => {
      const [[row], newest, lines] = await database.askTogether([
        claimQuestion({ ...name, id }, node.id),
        newestQuestion(name, TAIL),
        deliveriesQuestion(name),
      ]);
      if (row === undefined) throw lockedBy(name, await ownerOf(database, name));
      const transcript = openTranscript({
        ...{ database, ports, row, sessionKey, now, nodeId: node.id },
        newest: newestOf(row, await wholeBodies(database, name.agentId, newest)),
        deliveries: linesOf(lines),
        onEnd: () => forget(opening),
      });
      return { transcript, opening };
    });
  function forget(opening: symbol): void {
    for (const [place, each] of open) if (each === opening) open.delete(place);
  }

  const sweepInTurn = oneAtATime();
  let closing: Promise<void> | undefined;

  async function claimLog(name: SessionName): Promise<SessionLog<Kept>> {
    return inPlace(name, async (opening) => {
      const id = crypto.randomUUID();
      const [[row], lines] = await database.askTogether([
        claimQuestion({ ...name, id }, node.id),
        deliveriesQuestion(name),
      ]);
      if (row === undefined) throw lockedBy(name, await ownerOf(database, name));
      return openLog({
        ...{ database, ports, row, sessionKey: name.key, nodeId: node.id },
        deliveries: linesOf(lines),
        onEnd: () => forget(opening),
      });
    });
  }

  return {
    ...createReader(ports, databases, clusterId),
    alive: node.alive,
    open: async (name) => (await claim(name, { id: crypto.randomUUID() })).transcript,
    openLog: claimLog,
    renew: (renewal) => renewSession(database, renewal),
    label: ({ agentId, key }, label) => labelSession(database, { agentId, key, label }),
    async remove(name) {
      const removed = await removeSession(database, name);
      // What cannot be reached now goes with a sweep.
      if (removed !== null)
        await dropUnnamed(database, name.agentId, removed.blobs).catch(() => {});
      return removed !== null;
    },
    async adopt({ from, sessionId, archivedKey, prepare }) {
      const { agentId, sessionKey } = from;
      const begun = await begin(database, { agentId, sessionId });
      const { transcript, opening } = await claim(
        { agentId, key: begun },
        { id: sessionId, sessionKey },
      );
      try {
        await prepare(transcript);
        const move = { agentId, from: from.sessionId, to: sessionId, key: sessionKey, archivedKey };
        if (await moveTo(database, move)) {
          // The one that was left stays open for its owner, under a name that nobody opens.
          open.delete(placeOf({ agentId, key: begun }));
          open.set(placeOf({ agentId, key: sessionKey }), opening);
          return transcript;
        }
      } catch (error) {
        await transcript.close();
        throw error;
      }
      await transcript.close();
      return undefined;
    },
    keep: (name, message) => keepMessage(database, name, message, node.id),
    left: (name) => leftWork(database, name, node.id),
    drop: (name, names) => dropMessages(database, name, names),
    takeBack: (name, id) => takeBackMessages(database, name, id),
    reserveNumbers: (kind, of) => reserveNumbers(database, kind, of),
    sweep: ({ limit = 20, known = [] } = {}) =>
      sweepInTurn(async () => {
        node.requireAlive();
        const keys = [...open.keys()].map((place) => place.slice(place.indexOf("\n") + 1));
        const swept = await sweep(database, {
          ...{ nodeId: node.id, limit, known: [...keys, ...known] },
        });
        return {
          sessions: swept.sessions.map(({ agent_id: agentId, key, turn: openTurn }) => ({
            ...{ agentId, key, openTurn },
          })),
          messages: swept.messages.map(({ agent_id: agentId, key, id: name }) => ({
            ...{ agentId, key, name },
          })),
        };
      }),
    async takeDuty(duty) {
      node.requireAlive();
      return takeDuty(database, duty, node.id);
    },
    sweepBlobs: (request) => sweepBlobs(database, request),
    openQueue: (settings) => openQueue({ ...settings, database, alive: node.alive }),
    close() {
      closing ??= node.leave().finally(end);
      return closing;
    },
  };
}

const placeOf = ({ agentId, key }: SessionName): string => `${agentId}\n${key}`;

/** Those of the branch: its end is the end of the log, but when it was cut short. */
function newestOf(
  { branch, head_seq: head }: SessionRow,
  newest: readonly { seq: number; body: string }[],
): string[] {
  const [from, to] = closed(branch, head).at(-1) ?? [1, 0];
  return to === head ? newest.filter(({ seq }) => seq >= from).map(({ body }) => body) : [];
}

const lockedBy = (name: SessionName, address: string | null): ContextEngineError =>
  locked(
    name,
    address === null
      ? "by a gateway that has just died; ask again"
      : `by the gateway at ${address}; close it there, or ask there`,
  );

const openHere = (name: SessionName): ContextEngineError =>
  locked(name, "by this gateway; close it there, or ask there");

const locked = ({ key }: SessionName, who: string): ContextEngineError =>
  new ContextEngineError("SESSION_LOCKED", `The session ${key} is open already, ${who}.`);
