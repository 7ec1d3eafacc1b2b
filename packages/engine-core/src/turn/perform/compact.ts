// Asks the engine or the host's built-in compaction for a smaller context.
import { type CompactParams, type CompactResult, ContextEngineError } from "@clew/plugin-sdk/core";
import { type CompactionTrigger, within } from "@clew/plugin-sdk/host";
import { engineTimeout } from "../../engine/bounds.ts";
import { describeError } from "../../engine/quarantine.ts";
import { FALLBACK_ENGINE_ID } from "../../engine/registry.ts";
import {
  type CompactionOutcome,
  type CompactionRequest,
  MAX_OVERFLOW_ATTEMPTS,
} from "../compaction.ts";
import type { Ask } from "../effects.ts";
import type { Answer } from "../facts.ts";
import { hostParams } from "./engine-params.ts";
import { sessionFileOf, sessionOf, throwIfFatal, type World } from "./world.ts";

/**
 * A throw is a failed compaction, never a failed run; an abort is passed on. The engine is asked
 * whether or not it owns compaction.
 */
export async function compact(
  world: World,
  { by, request }: Extract<Ask, { do: "compact" }>,
): Promise<Extract<Answer, { type: "compacted" }>> {
  const { clock } = world.ports;
  const started = clock.monotonic();
  world.delegated = null;
  const outcome = await attempt(world, () =>
    by === "engine"
      ? Promise.resolve(world.engine.compact(compactParams(world, request)))
      : compactBuiltIn(world, request),
  );
  const ended = withDelegated(outcome, world.delegated);
  if (ended.ok && ended.compacted) world.ports.execution?.compacted?.(sessionOf(world));
  return {
    type: "compacted",
    trigger: request.trigger,
    ms: clock.monotonic() - started,
    outcome: ended,
  };
}

/** What the host compacted in the engine's place is compacted, whatever the engine makes of it. */
function withDelegated(
  outcome: CompactionOutcome,
  delegated: World["delegated"],
): CompactionOutcome {
  if (delegated === null) return outcome;
  if (delegated === "started") return { ...outcome, delegated: true };
  const worked = delegated.ok && delegated.compacted && !(outcome.ok && outcome.compacted);
  return { ...(worked ? { ...delegated, timedOut: false } : outcome), delegated: true };
}

async function attempt(
  world: World,
  run: () => Promise<CompactResult>,
): Promise<CompactionOutcome> {
  try {
    return { ...(await run()), timedOut: false };
  } catch (error) {
    throwIfFatal(world, error);
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

/** The host's own compaction; the engine is not asked. */
function compactBuiltIn(
  { ports, request: { engine }, signal }: World,
  request: CompactionRequest,
): Promise<CompactResult> {
  const { compaction } = ports;
  const boundMs = engine.guard.compactBoundMs;
  const reason = "this host has no built-in compaction";
  if (compaction === undefined) return Promise.resolve({ ok: false, compacted: false, reason });
  const onTimeout = () => {
    throw engineTimeout(FALLBACK_ENGINE_ID, "compact", boundMs);
  };
  return within<CompactResult>({ boundMs, signal, onTimeout }, (restart) =>
    compaction.compact(request, { signal, onProgress: restart }),
  );
}

function compactParams(world: World, request: CompactionRequest): CompactParams {
  const { setup, signal } = world;
  const { agentId } = sessionOf(world);
  const { trigger, attempt: attemptNo, currentTokenCount, focus } = request;
  const { runtimeContext, ...shared } = hostParams(world, "after-turn", {
    degradedReason: trigger === "overflow" ? "context_overflow" : undefined,
    llmPurpose: purposeOf(trigger),
  });
  // An old count would be taken for the reason of this compaction.
  const { currentTokenCount: _lastCount, ...facts } = runtimeContext;
  return {
    ...shared,
    ...sessionFileOf(world),
    agentId,
    force: trigger !== "threshold",
    tokenBudget: request.tokenBudget,
    compactionTarget: request.target,
    ...(currentTokenCount !== undefined && { currentTokenCount }),
    ...(focus !== undefined && { customInstructions: focus }),
    abortSignal: signal,
    runtimeContext: {
      ...facts,
      tokenBudget: request.tokenBudget,
      ...(currentTokenCount !== undefined && { currentTokenCount }),
      runId: setup.turnId,
      trigger,
      diagId: setup.turnId,
      ...(attemptNo !== undefined && { attempt: attemptNo, maxAttempts: MAX_OVERFLOW_ATTEMPTS }),
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
