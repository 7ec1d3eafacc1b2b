// Opens one session for writing.
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type {
  DeliveryPort,
  HostSession,
  ReportParts,
  TranscriptPort,
  TurnReport,
} from "@clew/engine-core";
import type { LedgerKeeper } from "@clew/legacy-engine";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import {
  type NewTranscriptEntry,
  placeEntry,
  TRANSCRIPT_VERSION,
  type TranscriptEntry,
  type TranscriptHeader,
} from "@clew/plugin-sdk/transcript";
import { acquireLock, type Lock, type LockOwner } from "../locks/lock.ts";
import { type BranchFile, openBranchFile, randomId } from "./branch-file.ts";
import { openDeliveries } from "./deliveries.ts";
import type { MovedFile } from "./durable-file.ts";
import { keepLedger } from "./ledger-file.ts";
import { loadSession } from "./load-session.ts";
import type { SessionNote } from "./notes.ts";
import { oneAtATime } from "./queues.ts";
import { planRewrite } from "./rewrite.ts";
import { noteWrite } from "./writes.ts";

/**
 * A transcript as compactions and their undoing need it: what belongs together is durable together.
 */
export interface CompactableSession extends TranscriptPort {
  /** Always the same object for one session, so that a second compaction at once is noticed. */
  readonly compaction: CompactableBranch;
}

export interface CompactableBranch {
  /** Keeps what is known of the session from one compaction to the next. */
  readonly ledger: LedgerKeeper;
  /** The active branch, oldest first; frozen, as everything that is handed out. */
  branch(): readonly TranscriptEntry[];
  /** Appends all entries after the leaf, or none; resolves when they are durable. */
  append(entries: readonly NewTranscriptEntry[]): Promise<readonly TranscriptEntry[]>;
  /**
   * Lets complete `entries` follow the first `keep` entries of the branch, all or none; resolves
   * when they are durable. Throws TRANSCRIPT_MOVED when the branch no longer ends at `leafId`.
   */
  graft(request: {
    keep: number;
    leafId: string | null;
    entries: readonly TranscriptEntry[];
  }): Promise<void>;
  /** An id no other entry of this session has or will get. */
  nextId(): string;
}

/** A session of this store, which keeps each in a file. */
export type FileSession = HostSession & { sessionFile: string };

export interface OpenSession extends CompactableSession {
  readonly session: FileSession;
  /** The active branch, oldest first; frozen, and another array when it changed. */
  branch(): readonly TranscriptEntry[];
  readonly notes: readonly SessionNote[];
  /** True: another gateway is to have it, and it is closed behind each piece of work. */
  readonly isGuest?: boolean;
  /** What the transcript takes in memory, bytes. */
  heldBytes(): number;
  /** Of these, what compactions left behind: it is in memory until the session is opened again. */
  spareBytes(): number;
  /** What another program did to its file since; null = nothing. Costs a look at the file. */
  moved(): MovedFile | "unsure" | null;
  /**
   * Stores the report of a turn with the session, where it is no file; gives it as it is stored.
   * Absent: it is one.
   */
  keepReport?(report: TurnReport, parts: ReportParts): Promise<TurnReport>;
  /** A turn that was cut short, as long as nothing came behind it. Absent, null: there is none. */
  cutTurn?(): OpenCutTurn | null;
  /** Waits for appends under way, then gives up the lock. */
  close(): Promise<void>;
}

/** A turn that was under way when the session was opened. */
export interface OpenCutTurn {
  /** With which it began. */
  entryId: string;
  /** Counts another try to go on with it, whoever made the others; which one it is. */
  tryAgain(): Promise<number>;
  /** Nobody goes on with it. */
  end(): Promise<void>;
}

export interface OpenSessionRequest {
  session: FileSession;
  /** Working folder written into the header of a new session. */
  cwd: string;
  /** Where it is kept what engines have acknowledged; absent = the eager lifecycle only. */
  deliveriesFile?: string;
  /** ms since the epoch. */
  now?: () => number;
  /** Of entries; another one is asked for where it is taken. Absent: they are random. */
  newId?: () => string;
  /** Smaller session files need no checkpoint, bytes. Absent: CHECKPOINT_FROM. */
  checkpointFrom?: number;
  /** The file is a copy, and this is the first line of the session it is of. Absent: it is none. */
  copyOf?: TranscriptHeader;
}

/** Reading less takes no time worth saving. */
export const CHECKPOINT_FROM = 2 ** 20;

/**
 * Throws SESSION_LOCKED while another process writes it, TRANSCRIPT_UNREADABLE when
 * the file is no transcript.
 */
export async function openSession(request: OpenSessionRequest): Promise<OpenSession> {
  const { session } = request;
  await mkdir(dirname(session.sessionFile), { recursive: true, mode: 0o700 });
  const lock = await takeLock(session);
  try {
    const { checkpointFrom = CHECKPOINT_FROM, newId = randomId } = request;
    const path = session.sessionFile;
    // It may have been mended.
    const loaded = await loadSession(path, checkpointFrom).finally(() => noteWrite(path));
    const takenOver = lock.takenFrom === undefined ? [] : [noteOfTaking(lock.takenFrom)];
    const opened =
      request.deliveriesFile === undefined
        ? undefined
        : await openDeliveries(request.deliveriesFile, loaded.branch);
    const notes = [...takenOver, ...loaded.notes, ...(opened?.notes ?? [])];
    const { copyOf } = request;
    const newHeader = () => copyOf ?? headerOf(session, request.cwd, (request.now ?? Date.now)());
    const isCopy = copyOf !== undefined;
    const file = await openBranchFile({ path, loaded, newHeader, newId, checkpointFrom, isCopy });
    return createHandle(request, lock, { file, notes, deliveries: opened?.deliveries });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

interface OpenedParts {
  file: BranchFile;
  notes: SessionNote[];
  deliveries: DeliveryPort | undefined;
}

function createHandle(
  { session, now = Date.now }: OpenSessionRequest,
  lock: Lock,
  { file, notes, deliveries }: OpenedParts,
): OpenSession {
  const { branch, nextId } = file;
  const inTurn = oneAtATime();
  let closed = false;
  let closing: Promise<void> | undefined;
  const enqueue = <Result>(work: () => Promise<Result>) =>
    inTurn(async () => {
      if (closed) throw closedError(session);
      return work();
    });
  const append = (added: readonly NewTranscriptEntry[], atomic: boolean) =>
    enqueue(async () => {
      if (added.length === 0) return [];
      return file.write(placeEntries(added, file, new Date(now()).toISOString()), { atomic });
    });
  const close = () =>
    enqueue(async () => {
      closed = true;
      await file.close();
      await lock.release();
    });
  return {
    ...{ session, branch, exists: file.exists, heldBytes: file.heldBytes, notes },
    spareBytes: file.spareBytes,
    moved: file.moved,
    read: async (part) => file.read(part),
    ...(deliveries !== undefined && { deliveries }),
    compaction: {
      ...{ branch, nextId, ledger: keepLedger(session.sessionFile) },
      append: (added) => append(added, true),
      graft: (request) => enqueue(() => graft(session, file, request)),
    },
    append: (added) => append(added, false),
    rewrite: (request) => enqueue(() => rewrite(file, request)),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

async function graft(
  session: HostSession,
  file: BranchFile,
  { keep, leafId, entries }: Parameters<CompactableBranch["graft"]>[0],
): Promise<void> {
  if (file.leafId() !== leafId) throw movedError(session);
  file.takeIds(entries);
  await file.write(entries, { kept: keep, atomic: true });
}

async function rewrite(
  file: BranchFile,
  request: Parameters<TranscriptPort["rewrite"]>[0],
): ReturnType<TranscriptPort["rewrite"]> {
  const plan = planRewrite({ branch: file.branch(), request, nextId: file.nextId });
  if (plan.kind !== "append") return plan.result;
  await file.write(plan.entries, { kept: plan.kept, atomic: true });
  return { ...plan.result, remapped: plan.remapped };
}

export function placeEntries(
  added: readonly NewTranscriptEntry[],
  { leafId, nextId }: Pick<BranchFile, "leafId" | "nextId">,
  timestamp: string,
): TranscriptEntry[] {
  let parentId = leafId();
  return added.map((entry) => {
    const id = nextId();
    const placed = placeEntry(entry, { id, parentId, timestamp });
    parentId = id;
    return placed;
  });
}

export function headerOf(
  session: HostSession,
  cwd: string,
  now: number,
): TranscriptHeader & { sessionKey: string } {
  // The key is in the file as well, so that the index can be made again from the files.
  const { sessionId, sessionKey } = session;
  return {
    type: "session",
    version: TRANSCRIPT_VERSION,
    id: sessionId,
    timestamp: new Date(now).toISOString(),
    cwd,
    sessionKey,
  };
}

async function takeLock(session: FileSession): Promise<Lock> {
  const outcome = await acquireLock(`${session.sessionFile}.lock`);
  if (outcome.held) return outcome.lock;
  throw new ContextEngineError(
    "SESSION_LOCKED",
    lockedMessage(session, outcome.owner, outcome.file),
  );
}

const noteOfTaking = ({ isCopy, pid }: LockOwner): SessionNote =>
  isCopy ? { kind: "lock-copied" } : { kind: "lock-taken-over", pid };

function lockedMessage({ sessionKey }: HostSession, owner: LockOwner | null, file: string): string {
  if (owner === null)
    return `Session ${sessionKey} is locked by ${file}, which cannot be read; delete that file if no other Clew is running.`;
  if (owner.pid === process.pid)
    return `Session ${sessionKey} is already open in this process; wait for its current turn to end.`;
  return `Session ${sessionKey} is open in process ${owner.pid} on ${owner.host} since ${owner.since}; use it there, stop that process, or choose another session.`;
}

function closedError(session: HostSession): ContextEngineError {
  return new ContextEngineError(
    "SESSION_CLOSED",
    `Session ${session.sessionKey} was closed before this could be written; send it again.`,
  );
}

export function movedError(session: HostSession): ContextEngineError {
  return new ContextEngineError(
    "TRANSCRIPT_MOVED",
    `Session ${session.sessionKey} has grown in the meantime; nothing was changed, try again.`,
  );
}
