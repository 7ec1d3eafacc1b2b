// Keeps the list of sessions, and looks only at what may have changed since.
import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { pause } from "@clew/plugin-sdk/host";
import {
  completeIndex,
  labelIn,
  listTranscripts,
  readIndex,
  type SessionIndex,
} from "./index-file.ts";
import {
  labelled,
  listAgents,
  newestFirst,
  type SessionSummary,
  summaryOf,
} from "./list-sessions.ts";
import { agentPaths, fileOf } from "./paths.ts";
import { oneAtATime } from "./queues.ts";
import { writesSoFar, writtenSince } from "./writes.ts";

export interface SessionList {
  /**
   * Newest first. What this process writes, and every file that comes or goes, is in it at once;
   * what other programs write to a file that is there, by the first call after LOOK_AGAIN_MS.
   */
  all(): Promise<readonly SessionSummary[]>;
}

/** How old what is known may be before all files are looked at again, in the background. */
const LOOK_AGAIN_MS = 10_000;
/** Others are let in between. */
const LOOKS_AT_A_TIME = 200;

interface KnownAgent {
  /** Of the index and its folder, as they were. Undefined: something is to be looked at. */
  stamp: string | undefined;
  index: SessionIndex;
  /** By key; keys without a transcript are not in it. */
  rows: Map<string, SessionSummary>;
}

export function createSessionList(
  home: string,
  { now = () => performance.now() }: { now?: () => number } = {},
): SessionList {
  const agents = new Map<string, KnownAgent>();
  const inTurn = oneAtATime();
  let sorted: SessionSummary[] | undefined;
  let mark = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;

  const lookAt = (agentId: string, known: KnownAgent, key: string, sessionId: string) => {
    const file = fileOf(agentPaths(home, agentId).sessions, sessionId);
    // One system call: not worth the way to another thread and back, ten thousand times.
    const stats = lstatSync(file, { throwIfNoEntry: false });
    const summary = summaryOf(
      { key, agentId, sessionId, file, ...labelled(known.index[key]) },
      stats,
    );
    const before = known.rows.get(key);
    if (isSame(before, summary)) return;
    sorted = undefined;
    if (summary === null) known.rows.delete(key);
    else known.rows.set(key, summary);
  };

  /** `isKnown`: what needs no look. */
  const lookThrough = async (
    agentId: string,
    known: KnownAgent,
    isKnown: (key: string, sessionId: string) => boolean,
  ) => {
    let looked = 0;
    for (const [key, { sessionId }] of Object.entries(known.index)) {
      if (isKnown(key, sessionId)) continue;
      lookAt(agentId, known, key, sessionId);
      if (++looked % LOOKS_AT_A_TIME === 0) await pause();
    }
  };

  const followAgent = async (agentId: string) => {
    const known: KnownAgent = agents.get(agentId) ?? {
      ...{ stamp: undefined, index: {}, rows: new Map() },
    };
    agents.set(agentId, known);
    const { sessions, index } = agentPaths(home, agentId);
    const stamp = stampOf([sessions, index]);
    if (stamp !== undefined && stamp === known.stamp) return;
    const ids = await listTranscripts(sessions);
    const there = new Set(ids);
    known.index = await completeIndex(home, agentId, (await readIndex(home, agentId)) ?? {}, ids);
    known.stamp = stamp;
    for (const [key, { sessionId }] of known.rows) {
      if (known.index[key]?.sessionId === sessionId && there.has(sessionId)) continue;
      known.rows.delete(key);
      sorted = undefined;
    }
    await lookThrough(
      agentId,
      known,
      (key, sessionId) =>
        known.rows.get(key)?.label === labelIn(known.index[key]) &&
        (known.rows.has(key) || !there.has(sessionId)),
    );
  };

  const follow = async () => {
    const since = writtenSince(mark);
    mark = writesSoFar();
    const found = await listAgents(home);
    for (const agentId of agents.keys())
      if (!found.includes(agentId)) {
        agents.delete(agentId);
        sorted = undefined;
      }
    for (const agentId of found) await followAgent(agentId);
    if (since === undefined) return lookAtAll();
    const written = new Set(since);
    if (written.size === 0) return;
    const folders = new Set(since.map(dirname));
    for (const [agentId, known] of agents) {
      if (!folders.has(agentPaths(home, agentId).sessions)) continue;
      for (const [key, { file, sessionId }] of known.rows)
        if (written.has(file)) lookAt(agentId, known, key, sessionId);
    }
  };

  const lookAtAll = async () => {
    lookedAt = now();
    for (const [agentId, known] of agents) await lookThrough(agentId, known, () => false);
  };

  return {
    all: () =>
      inTurn(async () => {
        if (lookedAt === Number.NEGATIVE_INFINITY) lookedAt = now();
        else if (now() - lookedAt > LOOK_AGAIN_MS) void lookAtAll().catch(() => {});
        await follow();
        sorted ??= [...agents.values()].flatMap(({ rows }) => [...rows.values()]).sort(newestFirst);
        return sorted;
      }),
  };
}

const isSame = (one: SessionSummary | undefined, other: SessionSummary | null): boolean =>
  one === undefined || other === null
    ? (one ?? null) === other
    : one.sessionId === other.sessionId &&
      one.label === other.label &&
      one.bytes === other.bytes &&
      one.updatedAt === other.updatedAt;

/** Clocks of file systems tick that seldom: what follows a change at once may not show. */
const TICK_NS = 100_000_000n;

/** Undefined: one of them was changed just now, or is not there. */
function stampOf(paths: readonly string[]): string | undefined {
  const changes = paths.map((path) => {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return found && { name: `${found.ino}:${found.ctimeNs}`, at: found.ctimeNs };
  });
  const newest = BigInt(Date.now()) * 1_000_000n - TICK_NS;
  return changes.every((change) => change !== undefined && change.at < newest)
    ? changes.map((change) => change?.name).join(" ")
    : undefined;
}
