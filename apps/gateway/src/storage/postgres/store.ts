// Finds, opens, lists and reads sessions that are in one PostgreSQL.
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import type { DeliveryLedger } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { TranscriptHeader } from "@clew/plugin-sdk/transcript";
import type {
  PostgresReader,
  PostgresStore,
  SessionLog,
  StoredSummary,
} from "@clew/store-postgres";
import { underLock } from "../../locks/wait-for-lock.ts";
import { fromJson } from "../../own-json.ts";
import { removeReportFiles } from "../../reports/report-files.ts";
import { archivedKey, isShownAsIs, type SessionName } from "../../sessions/keys.ts";
import { newestFirst, type SessionSummary } from "../../sessions/list-sessions.ts";
import { requireNewName, requireSessionName, sessionNotFound } from "../../sessions/name-errors.ts";
import { CHECKPOINT_FROM, headerOf, type OpenSession, openSession } from "../../sessions/open.ts";
import { agentPaths, transcriptFile } from "../../sessions/paths.ts";
import { createKeyedQueue } from "../../sessions/queues.ts";
import { readBranch, readPage } from "../../sessions/read-transcript.ts";
import { removeFiles } from "../../sessions/remove-session.ts";
import type { SessionStore } from "../../sessions/store.ts";
import type { StoredDoorPlaces } from "./door-places.ts";
import { DOOR_ROWS } from "./door-rows.ts";
import type { OpenEngineRows } from "./engine-rows.ts";
import { followLog } from "./follow-log.ts";
import { followReports } from "./follow-reports.ts";
import type { KeptNotices } from "./kept-notices.ts";
import { followKeptReports, forgetKeptReports } from "./kept-reports.ts";
import { engineOfHome } from "./ports.ts";
import { type StoredSessionParts, storedSession } from "./stored-session.ts";

export interface PostgresSessionsOptions {
  /** A gateway's part in the cluster, or what reads only. */
  store: PostgresStore<DeliveryLedger> | PostgresReader<DeliveryLedger>;
  /** Where copies of sessions and reports are, laid out as a home. */
  copies: string;
  /** Names the home whose engines are told of sessions. */
  homeId: string;
  /** Of one session's reports. */
  reportBytes: number;
  /** Who answers clients whose sessions are the door's. Absent: there is no door. */
  door?: Pick<StoredDoorPlaces, "isHere" | "hasSession">;
  /** Told of each session that is opened for writing. Absent: nobody is. */
  engineRows?: Pick<OpenEngineRows, "opened">;
  /** Messages that wait. Absent: it only reads. */
  inbox?: StoredSessionParts["inbox"];
  /** Told of every step that ends a turn. Absent: nobody is. */
  onTurnEnd?: () => void;
  /** What turns tell of large bodies. Absent: nothing. */
  kept?: Pick<KeptNotices, "take">;
}

/** What of a session's row says whether its copies are up to date. */
type Followed = Pick<
  StoredSummary,
  "agentId" | "sessionId" | "key" | "head" | "lastEntry" | "header" | "base"
>;

/** Keys may be short names; they are of the agent "main" then. */
export function createPostgresSessions(options: PostgresSessionsOptions): SessionStore {
  const { store, copies, reportBytes, engineRows } = options;
  const { inbox = NO_INBOX, kept = NONE_KEPT, door } = options;
  const ofHome = engineOfHome(options.homeId);
  const { enqueue } = createKeyedQueue();
  /** Ids of transcripts whose copies this process writes. */
  const open = new Set<string>();

  const fileOf = ({ agentId, sessionId }: Followed) => transcriptFile(copies, agentId, sessionId);
  /** Its copies say then what the database says, unless they are written here. */
  const follow = (found: Followed, { evenOpen = false } = {}): Promise<void> =>
    enqueue(found.sessionId, async () => {
      if (open.has(found.sessionId) && !evenOpen) return;
      await alone(fileOf(found), () => bringUp(found));
    });
  /** A gateway is the only one of its home; of commands there may be several at once. */
  const alone = (file: string, work: () => Promise<void>): Promise<void> =>
    "openLog" in store ? work() : underLock(lockOf(file), work);
  const bringUp = async (found: Followed): Promise<void> => {
    const { agentId, sessionId, key: sessionKey } = found;
    await followLog(fileOf(found), {
      ...{ session: { agentId, sessionId, sessionKey }, ...found },
      read: (after, limit) => store.log(found, { after, limit }),
      placeOf: (entryId) => store.placeOf(found, entryId),
    });
    const { reports } = agentPaths(copies, agentId);
    await followKeptReports(reports, found, { base: found.base, kept: store });
    await followReports(reports, sessionId, {
      later: (afterTurn, limit) => store.laterReports(found, { afterTurn, limit }),
      maxBytes: reportBytes,
    });
  };
  const findRow = (text: string) => store.find(requireSessionName(text));
  const find = async (text: string) => {
    const row = await findRow(text);
    return row === null || row.head === 0 ? null : { row, summary: summaryOf(row, fileOf(row)) };
  };
  const list = async () =>
    (await store.list()).map((row) => summaryOf(row, fileOf(row))).sort(newestFirst);
  const followed = async (text: string) => {
    const found = await find(text);
    if (found !== null) await follow(found.row);
    return found?.summary ?? null;
  };

  return {
    async open({ key, cwd, now, newId }) {
      const name = requireSessionName(key);
      if (!isShownAsIs(name.name) && (await store.find(name)) === null) requireNewName(name);
      const log = await untilFree(() => writer(store).openLog(nameOf(name)), {
        isWaitedFor: async () => door?.isHere === true && (await door.hasSession(name)),
      });
      const { session, found } = log;
      try {
        const header = headerIn(found.header) ?? headerOf(session, cwd, (now ?? Date.now)());
        const row = { ...session, key: session.sessionKey, ...found };
        await follow(row, { evenOpen: true });
        const sessionFile = fileOf(row);
        const copy = await openSession({
          ...{ session: { ...session, sessionFile }, cwd, checkpointFrom: CHECKPOINT_FROM },
          copyOf: header,
          ...(now !== undefined && { now }),
          ...(newId !== undefined && { newId }),
        });
        open.add(session.sessionId);
        const shut = engineRows?.opened(log);
        const isGuest = door?.isHere === false && (await door.hasSession(name));
        let isBroken = false;
        const opened = storedSession({
          ...{ log: toldOf(log, options.onTurnEnd), copy, header, ofHome, inbox, kept, now },
          onBroken: () => {
            isBroken = true;
          },
        });
        return closedBy({ ...opened, ...(isGuest && { isGuest }) }, async () => {
          // What it lacks, or has too much, nobody knows: the next opening makes it anew.
          if (isBroken) await rm(sessionFile, { force: true });
          open.delete(session.sessionId);
          shut?.();
        });
      } catch (error) {
        await log.close();
        throw error;
      }
    },
    async renew(key) {
      const name = nameOf(requireSessionName(key));
      const row = await store.find(name);
      // Nothing was said in it: it is as new as another one.
      if (row === null || row.head === 0)
        return { sessionId: row?.sessionId ?? randomUUID(), archivedAs: null };
      const sessionId = randomUUID();
      const begunAt = headerIn(row.header)?.timestamp ?? new Date(row.changedAt).toISOString();
      const archivedAs = await freeKey(store, name.agentId, archivedKey(name.key, begunAt));
      if (!(await writer(store).renew({ ...name, sessionId, archivedKey: archivedAs })))
        throw await heldElsewhere(store, name);
      return { sessionId, archivedAs };
    },
    async adopt({ sessionId }) {
      throw new ContextEngineError(
        "ENGINE_OPERATION_FAILED",
        `The session cannot move to the transcript ${sessionId} that its engine wrote in a file, as sessions are in PostgreSQL; it stays where it is.`,
      );
    },
    async remove(key) {
      const name = nameOf(requireSessionName(key));
      const row = await store.find(name);
      if (row === null) return;
      const isGone = async () => (await store.find(name))?.sessionId !== row.sessionId;
      // The answer that it is removed may have been lost.
      if (!(await writer(store).remove(name)) && !(await isGone()))
        throw await heldElsewhere(store, name);
      await removeFiles(fileOf(row));
      const { reports } = agentPaths(copies, name.agentId);
      await removeReportFiles(reports, row.sessionId);
      await forgetKeptReports(reports, row.sessionId);
    },
    list,
    async notFound(name) {
      const known = await list().catch(() => []);
      return sessionNotFound(
        name,
        known.map(({ key }) => key),
      );
    },
    async beginnings(sessions) {
      const found = await store.beginnings(sessions, DOOR_ROWS);
      return new Map(
        sessions.map(({ file }, at) => [file, { said: found[at]!.said, door: found[at]!.rows }]),
      );
    },
    deliveries: ({ agentId, key }) => store.deliveries({ agentId, key }),
    find: async (key) => (await find(key))?.summary ?? null,
    withFile: followed,
    idOf: async (key) => (await findRow(key))?.sessionId ?? null,
    async read(key) {
      const found = await followed(key);
      return found && { ...found, ...(await readBranch(found.file)) };
    },
    async newest(key, limit) {
      const found = await followed(key);
      return found && { ...found, ...(await readPage(found, limit, CHECKPOINT_FROM)) };
    },
  };
}

/** Between two attempts to open a session that another gateway has, and all of them, ms. */
const AGAIN_MS = 250;
const AT_MOST_MS = 120_000;

/** A gateway that has a session of the door as a guest gives it back behind what it does there. */
async function untilFree<Answer>(
  open: () => Promise<Answer>,
  { isWaitedFor }: { isWaitedFor: () => Promise<boolean> },
): Promise<Answer> {
  for (const until = performance.now() + AT_MOST_MS; ; )
    try {
      return await open();
    } catch (error) {
      if (!ContextEngineError.is(error, "SESSION_LOCKED") || performance.now() > until) throw error;
      if (!(await isWaitedFor())) throw error;
      await new Promise((resume) => setTimeout(resume, AGAIN_MS));
    }
}

/** The same log, of whose turns somebody is told. */
const toldOf = (
  log: SessionLog<DeliveryLedger>,
  onTurnEnd: () => void = () => {},
): SessionLog<DeliveryLedger> => ({
  ...log,
  async store(step) {
    const lines = await log.store(step);
    if (step.report !== null || step.endsTurn === true) onTurnEnd();
    return lines;
  },
});

type Stores = PostgresSessionsOptions["store"];

const NONE_KEPT: Pick<KeptNotices, "take"> = { take: () => [] };

const NO_INBOX: StoredSessionParts["inbox"] = { holds: () => false, letGo() {} };

/** Throws HOST_CAPABILITY_MISSING for who reads only. */
function writer(store: Stores): PostgresStore<DeliveryLedger> {
  if ("openLog" in store) return store;
  throw new ContextEngineError(
    "HOST_CAPABILITY_MISSING",
    "Sessions in PostgreSQL are changed by a gateway that runs; start it with: clew start",
  );
}

const lockOf = (file: string) => ({
  ...{ file: `${file}.lock`, what: `The copy ${file}`, code: "SESSION_LOCKED" as const },
});

const nameOf = ({ agentId, key }: SessionName) => ({ agentId, key });

const headerIn = (line: string | null): TranscriptHeader | undefined =>
  line === null ? undefined : (fromJson(line) as TranscriptHeader);

/** The same session, after whose end something is done. */
function closedBy(session: OpenSession, after: () => Promise<void>): OpenSession {
  let closing: Promise<void> | undefined;
  return {
    ...session,
    close() {
      closing ??= session.close().finally(after);
      return closing;
    },
  };
}

/** As a file with its first line has bytes. */
const summaryOf = (row: StoredSummary, file: string): SessionSummary => ({
  ...{ key: row.key, agentId: row.agentId, sessionId: row.sessionId, file },
  bytes: row.bytes + (row.header === null ? 0 : Buffer.byteLength(row.header) + 1),
  updatedAt: new Date(row.changedAt).toISOString(),
  ...(row.label !== null && { label: row.label }),
});

async function freeKey(store: Stores, agentId: string, wanted: string): Promise<string> {
  let free = wanted;
  for (let number = 2; (await store.find({ agentId, key: free })) !== null; number++)
    free = `${wanted}-${number}`;
  return free;
}

async function heldElsewhere(store: Stores, name: { agentId: string; key: string }) {
  const owner = await store.ownerOf(name);
  const who = owner === null ? "another gateway" : `the gateway at ${owner}`;
  return new ContextEngineError(
    "SESSION_LOCKED",
    `Session ${name.key} is held by ${who}, which keeps it for five minutes after its last reply; ask there.`,
  );
}
