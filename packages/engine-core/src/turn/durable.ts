// Commits the turns that a durable engine has not committed yet, in order.
import { type AgentMessage, isAbort, type TranscriptEntryAnchor } from "@clew/plugin-sdk/core";
import type { MessageEntry, TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describeError } from "../engine/quarantine.ts";
import type { CommitCursor, HostSession } from "../ports.ts";
import { hostParams } from "./engine-params.ts";
import type { TurnRun } from "./turn-run.ts";

/** Turns committed in one go, so that a long backlog does not hold up a reply. */
const MAX_COMMITS_PER_DRAIN = 16;

/** One turn of the active branch, from its user entry to the last entry before the next. */
export interface PendingTurn {
  /** Same turn, same key, in every process: session and user entry. */
  advancementKey: string;
  entries: readonly MessageEntry[];
  /** Position of the first entry on the branch and among its messages. */
  rawSeq: number;
  messagePosition: number;
}

/**
 * The turns after the cursor, oldest first: answered, failed, cut off by a crash, or answered by
 * another engine while this one was away. A cursor that is not on the branch (the branch was left)
 * makes everything on it pending; `commitTurn` is idempotent per key.
 */
export function planPendingTurns(
  branch: readonly TranscriptEntry[],
  cursorEntryId: string | null,
  sessionId: string,
): PendingTurn[] {
  const start = branch.findIndex((entry) => entry.id === cursorEntryId) + 1;
  const turns: (PendingTurn & { entries: MessageEntry[] })[] = [];
  let messagePosition = branch.slice(0, start).filter((entry) => entry.type === "message").length;
  for (let rawSeq = start; rawSeq < branch.length; rawSeq++) {
    const entry = branch[rawSeq]!;
    if (entry.type !== "message") continue;
    if (entry.message.role === "user")
      turns.push({
        advancementKey: `${sessionId}:${entry.id}`,
        entries: [entry],
        rawSeq,
        messagePosition,
      });
    else turns.at(-1)?.entries.push(entry);
    messagePosition++;
  }
  return turns;
}

export type DrainResult =
  | { ok: true; committed: number }
  | { ok: false; pending: number; reason: string };

/**
 * Commits what is pending. An engine that
 * is new to the session and can bootstrap reads what was there before; for it the
 * cursor starts at the present.
 */
export async function drainOutbox(run: TurnRun): Promise<DrainResult> {
  const { outbox } = run.transcript;
  const { engineId } = run.request.engine.guard;
  if (outbox === undefined) return { ok: true, committed: 0 };
  const branch = run.transcript.branch();
  const known = outbox.cursor(engineId);
  if (
    known === undefined &&
    typeof run.engine.bootstrap === "function" &&
    run.report.promptEntryId === null
  ) {
    await outbox.save({
      engineId,
      entryId: branch.at(-1)?.id ?? null,
      attempts: 0,
      lastError: null,
    });
    return { ok: true, committed: 0 };
  }
  const cursor = known ?? { engineId, entryId: null, attempts: 0, lastError: null };
  const pending = planPendingTurns(branch, cursor.entryId, run.session.sessionId);
  let committed = 0;
  for (const turn of pending.slice(0, MAX_COMMITS_PER_DRAIN)) {
    const failure = await commit(run, turn);
    if (failure !== undefined) {
      await outbox.save({
        ...(outbox.cursor(engineId) ?? cursor),
        attempts: cursor.attempts + 1,
        lastError: failure,
      });
      run.ports.log.warn(
        `durable turn advancement remains queued: ${turn.advancementKey}: ${failure}`,
      );
      return { ok: false, pending: pending.length - committed, reason: failure };
    }
    await outbox.save({
      engineId,
      entryId: turn.entries.at(-1)!.id,
      attempts: 0,
      lastError: null,
    } satisfies CommitCursor);
    committed++;
  }
  const left = pending.length - committed;
  return left === 0
    ? { ok: true, committed }
    : { ok: false, pending: left, reason: `${left} older turns have yet to be committed` };
}

/** Undefined when the engine has the turn now, else why not. */
async function commit(run: TurnRun, turn: PendingTurn): Promise<string | undefined> {
  const {
    sessionTarget: _target,
    runtimeSettings: _settings,
    ...params
  } = hostParams(run, "after-turn", undefined);
  const [first] = turn.entries;
  try {
    await run.engine.commitTurn?.({
      ...params,
      advancementKey: turn.advancementKey,
      admission: {
        ...anchor(run.session, turn, 0),
        logicalTurnId: turn.advancementKey,
        role: "user",
      },
      terminal: anchor(run.session, turn, turn.entries.length - 1),
      messages: turn.entries.map((entry) => withIdentity(entry, first!)),
      isHeartbeat: run.isHeartbeat,
    });
    return run.engine.degraded?.reason;
  } catch (error) {
    if (isAbort(error, run.signal)) throw error;
    return describeError(error);
  }
}

function anchor(session: HostSession, turn: PendingTurn, index: number): TranscriptEntryAnchor {
  const entry = turn.entries[index]!;
  const { agentId, sessionId, sessionKey, sessionFile } = session;
  return {
    agentId,
    sessionId,
    sessionKey,
    storePath: sessionFile,
    generation: 0,
    entryId: entry.id,
    rawSeq: turn.rawSeq + index,
    effectiveParentId: entry.parentId,
    activeMessagePosition: turn.messagePosition + index,
    ...(entry.message.idempotencyKey !== undefined && {
      idempotencyKey: entry.message.idempotencyKey,
    }),
  };
}

/**
 * Messages stored before they carried a key get one from their entry, so that
 * engines can recognise them.
 */
function withIdentity(entry: MessageEntry, first: MessageEntry): AgentMessage {
  if (entry.message.idempotencyKey !== undefined) return entry.message;
  return { ...entry.message, idempotencyKey: entry === first ? `${entry.id}:user` : entry.id };
}
