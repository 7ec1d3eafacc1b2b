// Says that this gateway lives, and notices in time when nobody can be sure of it.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Database, Statement } from "./database.ts";

/** Beats within the time after which a node counts as dead. */
const BEATS = 10;
/** The part of that time after which a node stops by itself. */
export const STOPS_AT = 0.66;
/** The part of that time for which it waits for an answer, before it asks by another connection. */
export const ANSWERS_IN = 0.3;
/** The part of that time after which it asks again when it failed. */
const AGAIN_IN = 0.02;
/** Rows of nodes that died long ago are of no use to anybody. */
const FORGOTTEN = "1 day";

/** SQL that is true of a node whose row is `node`, by the clock of the database. */
export const LIVES = (node: string): string =>
  `${node}.seen_at + ${node}.ttl_ms * interval '1 millisecond' > now()`;

const JOIN: Statement<{ id: string }> = {
  name: "node-join",
  text: `
    with old as (
      delete from node
      where seen_at < now() - interval '${FORGOTTEN}' or (place = $5::text and id <> $1)
    )
    insert into node (id, address, version, ttl_ms, seen_at, place, public_key)
    values ($1, $2, $3, $4, now(), $5::text, $6)
    on conflict (id) do update set seen_at = now() returning id`,
};

/**
 * Whoever was dead for a moment stays so, as its sessions may be another's by now; unless it has
 * taken nothing yet ($2).
 */
const BEAT: Statement<{ id: string }> = {
  name: "node-beat",
  text: `
    update node set seen_at = now() where id = $1 and ($2::boolean or ${LIVES("node")})
    returning id`,
};

/** Sessions of a node that is not there are anybody's. */
const LEAVE: Statement<never> = {
  name: "node-leave",
  text: "delete from node where id = $1",
};

const LIVING: Statement<{ count: number }> = {
  name: "nodes-living",
  text: `select count(*)::int as count from node where ${LIVES("node")}`,
};

/** A gateway that lives. */
export interface LivingNode {
  /** Of this start. */
  id: string;
  /** Where others reach it. */
  address: string;
  /** What proves that it signed something. */
  publicKey: string;
}

const PEERS: Statement<{ id: string; address: string; public_key: string }> = {
  name: "node-peers",
  text: `
    select id, address, public_key from node
    where public_key is not null and ${LIVES("node")} order by address`,
};

/** Those that are known by a key. */
export const peersOf = async (database: Database): Promise<LivingNode[]> =>
  (await database.ask(PEERS, [])).map(({ id, address, public_key: publicKey }) => ({
    ...{ id, address, publicKey },
  }));

/** How many there are. */
export const livingNodes = async (database: Database): Promise<number> =>
  (await database.ask(LIVING, []))[0]?.count ?? 0;

export interface ClusterNode {
  readonly id: string;
  /** Fires when this node may no longer act: nothing has confirmed for too long that it lives. */
  readonly alive: AbortSignal;
  /** False when it may no longer act, also when nobody noticed yet. */
  lives(): boolean;
  /** To be called before anything is taken that others could take. Throws SESSION_LOCKED. */
  requireAlive(): void;
  /**
   * The work of a start is done. Until then, and before anything was taken, a node that nobody
   * heard of for too long does not end, as others cannot have taken anything of it. Throws
   * STORAGE_FAILED, SESSION_LOCKED.
   */
  settle(): Promise<void>;
  /** Hands over what it owns. */
  leave(): Promise<void>;
}

export interface NodeOptions {
  /** Its own: a beat must not wait behind turns. */
  database: Database;
  id: string;
  address: string;
  version: string;
  ttlMs: number;
  /** Whoever was there before is dead. null: nobody knows. */
  place: string | null;
  /** By which others know what it signs. null: it signs nothing. */
  publicKey: string | null;
}

/** Every start of a gateway is a node of its own. */
export async function joinCluster(options: NodeOptions): Promise<ClusterNode> {
  const { database, id, address, version, ttlMs, place, publicKey } = options;
  const life = new AbortController();
  const stopsAfterMs = ttlMs * STOPS_AT;
  // Counted from when a beat was sent: the database may have seen it at once.
  let confirmedAt = performance.now();
  let beat: ReturnType<typeof setTimeout> | undefined;
  let deadline: ReturnType<typeof setTimeout> | undefined;
  let isLeaving = false;
  let isSettled = false;

  await database.ask(JOIN, [id, address, version, ttlMs, place, publicKey]);
  watch();
  next();

  function next(part = 1 / BEATS): void {
    beat = quietly(setTimeout(() => void sendBeat(), ttlMs * part));
  }
  async function sendBeat(): Promise<void> {
    const sentAt = performance.now();
    const known = await database.askOnce(BEAT, [id, !isSettled]).catch(() => null);
    // A process that was frozen may get this answer before its timers run.
    if (isLeaving || life.signal.aborted || check()) return;
    if (known?.length === 0) return stop();
    if (known === null) return next(AGAIN_IN);
    confirmedAt = Math.max(confirmedAt, sentAt);
    watch();
    next();
  }
  function watch(): void {
    clearTimeout(deadline);
    if (!isSettled) return;
    const leftMs = confirmedAt + stopsAfterMs - performance.now();
    // Timers count whole milliseconds, and may be a part of one early.
    deadline = quietly(setTimeout(() => void (check() || watch()), Math.max(1, Math.ceil(leftMs))));
  }
  const isLate = () => performance.now() - confirmedAt >= stopsAfterMs;
  function check(): boolean {
    if (!isSettled || !isLate()) return false;
    if (!life.signal.aborted) stop();
    return true;
  }
  function lives(): boolean {
    return !check() && !isLate() && !life.signal.aborted;
  }
  function settleNow(): void {
    isSettled = true;
    watch();
  }
  function stop(): void {
    stopTimers();
    life.abort(stopped());
  }
  function stopTimers(): void {
    clearTimeout(beat);
    clearTimeout(deadline);
  }
  return {
    id,
    alive: life.signal,
    lives,
    requireAlive() {
      if (!lives()) throw stopped();
      if (!isSettled) settleNow();
    },
    async settle() {
      const sentAt = performance.now();
      const known = await database.ask(BEAT, [id, !isSettled]);
      if (known.length === 0) stop();
      if (life.signal.aborted) throw stopped();
      confirmedAt = Math.max(confirmedAt, sentAt);
      settleNow();
    },
    async leave() {
      isLeaving = true;
      stopTimers();
      // Nobody may hear it, and whoever is dead has nothing to hand over.
      if (!life.signal.aborted) await database.ask(LEAVE, [id]);
    },
  };
}

const stopped = () =>
  new ContextEngineError(
    "SESSION_LOCKED",
    "This gateway was not heard of for too long, and another may have taken its sessions; ask again.",
  );

/** A timer alone keeps no process alive. */
export function quietly(timer: ReturnType<typeof setTimeout>): ReturnType<typeof setTimeout> {
  if (typeof timer === "object") timer.unref();
  return timer;
}
