// The sessions of a cluster of gateways, as one gateway opens them.
import { requirePlace } from "./blobs/require-place.ts";
import { dropUnnamed, type SweptBlobs, sweepBlobs } from "./blobs/sweep-blobs.ts";
import { clusterId, labelSession, removeSession, renewSession } from "./catalogue.ts";
import { type ChangedSession, changedSessions } from "./changed-sessions.ts";
import { putChild, removeChild } from "./children.ts";
import { type CostFollower, followCosts } from "./cost-follower.ts";
import { type CostShelf, costShelf } from "./cost-lines.ts";
import { largeBodies, openDatabase } from "./database.ts";
import { type DutyPlace, takeDuty } from "./duties.ts";
import { reserveNumbers } from "./engine-rows.ts";
import {
  dropMessages,
  type InboxMessage,
  keepMessage,
  type LeftWork,
  leftWork,
  takeBackMessages,
} from "./inbox.ts";
import { openQueue, type PostgresQueue } from "./jobs/queue.ts";
import { sweep } from "./lease.ts";
import { migrate, requireOwnVersion } from "./migrate.ts";
import {
  ANSWERS_IN,
  type ClusterNode,
  joinCluster,
  type LivingNode,
  peersOf,
  quietly,
  STOPS_AT,
} from "./node.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { createOpenSessions } from "./open-sessions.ts";
import type { Ledger, StoredSession } from "./ports.ts";
import {
  createReader,
  type Databases,
  type PostgresReader,
  type PostgresReaderOptions,
  type SessionName,
} from "./reader.ts";
import { makeTrigramIndex } from "./search/trigrams.ts";
import type { SessionLog } from "./session-log.ts";
import { begin, moveTo } from "./successor.ts";
import type { PostgresTranscript } from "./transcript.ts";
import { triesToWrite } from "./try-room.ts";

/** What a store is opened with. */
export interface PostgresStoreOptions<Kept extends Ledger>
  extends Omit<PostgresReaderOptions<Kept>, "connections"> {
  /** Where other gateways reach this one. */
  address: string;
  /** Of this gateway, for operators. Absent: it is not said. */
  version?: string;
  /**
   * Where it runs that only one process can be at a time, such as its home: one that was there
   * before is dead, and its sessions are free at once. Absent: they are when it counts as dead.
   */
  place?: string;
  /** By which other gateways know what this one signs. Absent: it signs nothing. */
  publicKey?: string;
  /** A gateway that was not heard of for so long is dead, ms. Absent: 10 s. */
  ttlMs?: number;
  /** Connections for turns; one more says that this gateway lives, and two search. Absent: 10. */
  connections?: number;
  /** ms since the epoch. Absent: `Date.now`. */
  now?: () => number;
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
   * The work of a start is done. Until then, and before anything was opened or taken, a gateway
   * that the database did not hear of for too long does not end. Throws STORAGE_FAILED,
   * SESSION_LOCKED.
   */
  settle(): Promise<void>;
  /** Of this start of the gateway, by which others know it. */
  readonly nodeId: string;
  /** Gateways of the database that live and sign, this one among them. */
  peers(): Promise<LivingNode[]>;
  /**
   * Opens for writing; a key without a session gets one. Throws SESSION_LOCKED while somebody who
   * lives has it open, STORAGE_FAILED.
   */
  open(name: SessionName): Promise<PostgresTranscript<Kept>>;
  /** The same for who keeps the branch elsewhere, and reads nothing of it. */
  openLog(name: SessionName): Promise<SessionLog<Kept>>;
  /**
   * This gateway has it open and may act, so that the database need not be asked who has it. What
   * it stores is refused all the same where another one has taken it.
   */
  holds(name: SessionName): boolean;
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
  /** Sessions of an agent to which something was added at `since` or after it, newest first. */
  changedSessions(of: { agentId: string; since: number }): Promise<ChangedSession[]>;
  /** What the gateway of a home wrote down of model calls. */
  costs(home: string): CostShelf;
  /** Reads what other homes' gateways wrote down of them, and reads on. */
  followCosts(home: string): CostFollower;
  /**
   * Takes a duty, by a name that all gateways call it by, where nobody who lives has it; it is kept
   * as long as this gateway lives.
   */
  takeDuty(duty: string): Promise<DutyPlace>;
  /** What is known of a session that another one started; durable when it resolves. */
  putChild(child: SessionName & { body: string }): Promise<void>;
  /** Nothing is known of it any more. */
  removeChild(name: SessionName): Promise<void>;
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
  /** False: the disk of the database is full; null: this user may not try. */
  hasRoom(): Promise<boolean | null>;
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

/** The part of its time that a gateway has for what is under way when it may no longer act. */
const LAST_WORDS = 0.1;

/**
 * A statement whose connection was dropped on the way goes out by another one before its gateway
 * would be dead; slow ones are not sent twice without need.
 */
const FIRST_ANSWER_MS = 5_000;
const FIRST_ANSWER_IN = 0.5;

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
  const connect = (connections: number, timeout: number, firstAnswerMs: number) =>
    openDatabase({
      ...{ url, connections, timeoutMs: timeout, firstAnswerMs, patienceMs, onRoundTrip },
    });
  const firstAnswerMs = Math.min(timeoutMs, FIRST_ANSWER_MS, ttlMs * FIRST_ANSWER_IN);
  const database = connect(options.connections ?? 10, timeoutMs, firstAnswerMs);
  const beatMs = Math.min(timeoutMs, ttlMs * ANSWERS_IN);
  const beats = connect(1, beatMs, beatMs);
  const searches = openDatabase({ url, onRoundTrip, ...SEARCHES });
  const all = [database, beats, searches];
  const end = async () => void (await Promise.all(all.map((each) => each.end())));
  try {
    const { address, version = "", place = null, publicKey = null } = options;
    await migrate(database, place);
    await makeTrigramIndex(searches);
    const known = await clusterId(database);
    for (const each of [database, searches]) each.blobs = largeBodies(options, known);
    await requirePlace(database);
    const id = crypto.randomUUID();
    const joining = { database: beats, id, address, version, ttlMs, place, publicKey };
    const node = await joinCluster(joining);
    await requireOwnVersion(database).catch(async (error: unknown) => {
      await node.leave();
      throw error;
    });
    // A gateway that ends must not wait for who does not answer.
    const abandon = () => all.forEach((each) => void each.abandon());
    node.alive.addEventListener("abort", () => quietly(setTimeout(abandon, ttlMs * LAST_WORDS)));
    return createStore(options, { database, searches }, { node, clusterId: known }, end);
  } catch (error) {
    await end();
    throw error;
  }
}

function createStore<Kept extends Ledger>(
  { ports, version = "", now = Date.now }: PostgresStoreOptions<Kept>,
  databases: Databases,
  { node, clusterId }: { node: ClusterNode; clusterId: string },
  end: () => Promise<void>,
): PostgresStore<Kept> {
  const { database } = databases;
  const sessions = createOpenSessions({ ports, database, node, now });
  const sweepInTurn = oneAtATime();
  let closing: Promise<void> | undefined;

  return {
    ...createReader(ports, databases, clusterId),
    alive: node.alive,
    nodeId: node.id,
    settle: node.settle,
    peers: () => peersOf(database),
    open: async (name) => (await sessions.transcript(name, { id: crypto.randomUUID() })).transcript,
    openLog: sessions.log,
    holds: sessions.holds,
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
      const { transcript, opening } = await sessions.transcript(
        { agentId, key: begun },
        { id: sessionId, sessionKey },
      );
      try {
        await prepare(transcript);
        const move = { agentId, from: from.sessionId, to: sessionId, key: sessionKey, archivedKey };
        if (await moveTo(database, move)) {
          // The one that was left stays open for its owner, under a name that nobody opens.
          const [from, to] = [begun, sessionKey].map((key) => ({ agentId, key }));
          sessions.move(opening, { from: from!, to: to! });
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
    putChild: (child) => putChild(database, child, node.id),
    removeChild: (name) => removeChild(database, name),
    sweep: ({ limit = 20, known = [] } = {}) =>
      sweepInTurn(async () => {
        node.requireAlive();
        const swept = await sweep(database, {
          ...{ nodeId: node.id, limit, known: [...sessions.keys(), ...known] },
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
    changedSessions: (of) => changedSessions(database, of),
    costs: (home) => costShelf(database, home),
    followCosts: (home) => followCosts(database, home),
    async takeDuty(duty) {
      node.requireAlive();
      return takeDuty(database, duty, node.id);
    },
    sweepBlobs: (request) => sweepBlobs(database, request),
    hasRoom: () => triesToWrite((text) => database.change(async () => text)),
    openQueue: (settings) => openQueue({ ...settings, database, version, alive: node.alive }),
    close() {
      closing ??= node.leave().finally(end);
      return closing;
    },
  };
}
