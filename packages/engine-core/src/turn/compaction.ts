// Runs one compaction, whatever asked for it, and adopts the successor it may make.
import {
  type AgentMessage,
  type CompactParams,
  type CompactResult,
  ContextEngineError,
  isAbort,
} from "@clew/plugin-sdk/core";
import { type CompactionAsk, type CompactionTrigger, within } from "@clew/plugin-sdk/host";
import { engineTimeout } from "../engine/bounds.ts";
import { describeError } from "../engine/quarantine.ts";
import { FALLBACK_ENGINE_ID } from "../engine/registry.ts";
import type { CompactionPort, HookPort } from "../ports.ts";
import { planSuccessor } from "../session/successor.ts";
import { hostParams } from "./engine-params.ts";
import { messagesOfTurn } from "./history.ts";
import { runMaintenance } from "./maintenance.ts";
import type { TurnRun } from "./turn-run.ts";

/** Attempts at getting out of an overflow, per run (contract §3.7). */
export const MAX_OVERFLOW_ATTEMPTS = 3;

/** What is asked, down to where, and which attempt it is. */
export interface CompactionRequest extends CompactionAsk {
  tokenBudget: number;
  target: NonNullable<CompactParams["compactionTarget"]>;
  attempt?: number;
}

/** What a compaction came to, a throw and a missed bound included. */
export interface CompactionOutcome extends CompactResult {
  /** The engine, or the built-in compaction, did not finish within its bound. */
  timedOut: boolean;
}

/**
 * Always `engine.compact`, owner or not. A throw is a failed compaction, never a failed
 * run; an abort is passed on.
 */
export function compactThroughEngine(
  run: TurnRun,
  request: CompactionRequest,
): Promise<CompactionOutcome> {
  return recordCompaction(run, request, async () =>
    run.engine.compact(compactParams(run, request)),
  );
}

/**
 * The host's own compaction between model calls, for engines that do not own it;
 * the engine is not asked.
 */
export function compactBuiltIn(
  run: TurnRun,
  compaction: CompactionPort,
  request: CompactionRequest,
): Promise<CompactionOutcome> {
  const { compactBoundMs: boundMs } = run.request.engine.guard;
  const onTimeout = () => {
    throw engineTimeout(FALLBACK_ENGINE_ID, "compact", boundMs);
  };
  return recordCompaction(run, request, () =>
    within<CompactResult>({ boundMs, signal: run.signal, onTimeout }, (restart) =>
      compaction.compact(request, { signal: run.signal, onProgress: restart }),
    ),
  );
}

async function attempt(
  run: TurnRun,
  compact: () => Promise<CompactResult>,
): Promise<CompactionOutcome> {
  try {
    return { ...(await compact()), timedOut: false };
  } catch (error) {
    if (isAbort(error, run.signal)) throw error;
    const timedOut = ContextEngineError.is(error, "ENGINE_TIMEOUT");
    return {
      ok: false,
      compacted: false,
      code: timedOut ? "timed-out" : "failed",
      reason: describeError(error),
      timedOut,
    };
  }
}

async function recordCompaction(
  run: TurnRun,
  request: CompactionRequest,
  compact: () => Promise<CompactResult>,
): Promise<CompactionOutcome> {
  const { clock, log } = run.ports;
  const started = clock.monotonic();
  run.emit({ type: "notice", text: `compacting (${request.trigger})` });
  const before = run.session;
  await runHook(run, "beforeCompaction", {
    ...hookEvent(run, request),
    tokenCount: request.currentTokenCount ?? UNKNOWN,
  });
  const result = await attempt(run, compact);
  run.report.compactions.push({
    trigger: request.trigger,
    ok: result.ok,
    compacted: result.compacted,
    ...(result.code !== undefined && { code: result.code }),
    reason: result.reason ?? null,
    tokensBefore: result.result?.tokensBefore ?? null,
    tokensAfter: result.result?.tokensAfter ?? null,
    durationMs: clock.monotonic() - started,
  });
  const outcome = result.compacted
    ? "compacted"
    : `not compacted (${result.reason ?? "no reason given"})`;
  log.info(`compaction (${request.trigger}): ${outcome}`, { sessionKey: run.session.sessionKey });
  if (result.ok && result.compacted) {
    run.state.measurement = undefined;
    await adoptSuccessor(run, result);
    await runMaintenance(run, "compaction");
  }
  const moved = run.session.sessionId !== before.sessionId;
  await runHook(run, "afterCompaction", {
    ...hookEvent(run, request),
    tokenCount: result.result?.tokensAfter ?? UNKNOWN,
    compacted: result.ok && result.compacted,
    ...(moved && { previousSessionId: before.sessionId }),
  });
  return result;
}

const UNKNOWN = -1;

const hookEvent = ({ session }: TurnRun, { trigger }: CompactionRequest) => ({
  session,
  trigger,
  messageCount: UNKNOWN,
});

async function runHook<Name extends keyof HookPort>(
  run: TurnRun,
  name: Name,
  event: Parameters<NonNullable<HookPort[Name]>>[0],
): Promise<void> {
  try {
    await (run.ports.hooks?.[name] as ((given: typeof event) => Promise<void>) | undefined)?.(
      event,
    );
  } catch (error) {
    run.ports.log.warn(`${name} hook failed: ${describeError(error)}`);
  }
}

function compactParams(run: TurnRun, request: CompactionRequest): CompactParams {
  const { session, report, signal } = run;
  const { trigger, attempt, currentTokenCount, focus } = request;
  const degradedReason = trigger === "overflow" ? "context_overflow" : undefined;
  const shared = hostParams(run, "after-turn", undefined, {
    degradedReason,
    llmPurpose: purposeOf(trigger),
  });
  return {
    ...shared,
    sessionFile: session.sessionFile,
    agentId: session.agentId,
    force: trigger !== "threshold",
    tokenBudget: request.tokenBudget,
    compactionTarget: request.target,
    ...(currentTokenCount !== undefined && { currentTokenCount }),
    ...(focus !== undefined && { customInstructions: focus }),
    abortSignal: signal,
    runtimeContext: {
      ...shared.runtimeContext,
      tokenBudget: request.tokenBudget,
      ...(currentTokenCount === undefined ? {} : { currentTokenCount }),
      runId: report.turnId,
      trigger,
      diagId: report.turnId,
      ...(attempt !== undefined && { attempt, maxAttempts: MAX_OVERFLOW_ATTEMPTS }),
      ...(trigger === "manual" && { manualCompaction: true, forceReason: "manual" }),
    },
  };
}

const purposeOf = (trigger: CompactionTrigger) =>
  trigger === "overflow"
    ? "context-engine.overflow-compaction"
    : trigger === "timeout_recovery"
      ? "context-engine.timeout-compaction"
      : "context-engine.compaction";

/**
 * After this the rest of the run works on the successor; a session that moved
 * meanwhile keeps its place.
 */
async function adoptSuccessor(run: TurnRun, result: CompactResult): Promise<void> {
  const plan = planSuccessor(run.session, result);
  if (plan.kind === "none") return;
  const { log, successors } = run.ports;
  if (plan.kind === "refuse") return log.warn(`compaction successor refused: ${plan.reason}`);
  if (successors === undefined)
    return log.warn("compaction successor refused: this host keeps one transcript per session");
  const transcript = await successors.adopt({
    from: run.session,
    sessionId: plan.sessionId,
    sessionFile: plan.sessionFile,
  });
  if (transcript === undefined)
    return log.warn(
      "compaction successor refused: the session moved to another transcript in the meantime",
    );
  const turn = messagesOfTurn(run);
  run.transcript = transcript;
  run.state.context = undefined;
  run.report.sessionId = plan.sessionId;
  await carryTurn(run, turn);
}

/**
 * The running turn goes on in the successor: where the engine copied it there, or appended
 * here, tool results and all.
 */
async function carryTurn(run: TurnRun, turn: readonly AgentMessage[]): Promise<void> {
  const [prompt] = turn;
  if (prompt === undefined || run.report.promptEntryId === null) return;
  const copied = run.transcript
    .branch()
    .findLast(
      (entry) =>
        entry.type === "message" &&
        prompt.idempotencyKey !== undefined &&
        entry.message.idempotencyKey === prompt.idempotencyKey,
    );
  const wasGiven = turn.map((message) => run.delivered.has(run.state.entryIds.get(message) ?? ""));
  const entries =
    copied === undefined
      ? await run.transcript.append(turn.map((message) => ({ type: "message", message })))
      : run.transcript.branch().slice(run.transcript.branch().indexOf(copied));
  run.report.promptEntryId = entries[0]!.id;
  // What the engine was given of the turn it need not be given again under new ids; the
  // old ones mean nothing here.
  run.delivered = new Set(entries.flatMap(({ id }, index) => (wasGiven[index] ? [id] : [])));
}
