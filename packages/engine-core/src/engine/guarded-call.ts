// One call of an engine's method, from its bound and its loans to who answers when it fails.
import { type AgentMessage, ContextEngineError, isAbort } from "@clew/plugin-sdk/core";
import { type EngineMethod, sleep, within } from "@clew/plugin-sdk/host";
import type { EngineCallReport } from "../report/engine-call.ts";
import { engineTimeout } from "./bounds.ts";
import type { CallScope } from "./call-scope.ts";
import { withRuntimeCompaction } from "./compaction-scope.ts";
import { callCompatibly } from "./compat.ts";
import { describeError } from "./describe-error.ts";
import { undoLatePreparation } from "./late-preparation.ts";
import { lendCall } from "./lent-call.ts";
import { takeResult } from "./results.ts";
import { failureIn, fallbackOf, noteAnswer, type Scope, setAsideFor } from "./scope-state.ts";
import { isTransient } from "./transient.ts";

/**
 * Failures of these are the caller's to handle: a wrong "it worked" would be worse than
 * an error (contract §2.4).
 */
const FAIL_CLOSED = new Set<EngineMethod>(["compact", "prepareSubagentSpawn"]);
/** Between a failure that passes by itself and the second try, ms. */
const RETRY_PAUSE_MS = 200;

const DOWNGRADED = "context engine downgraded to legacy";
/** What a method comes to that the fallback does not have. */
const FALLBACK_RESULTS: Partial<Record<EngineMethod, unknown>> = {
  bootstrap: { bootstrapped: false, reason: DOWNGRADED },
  maintain: { changed: false, bytesFreed: 0, rewrittenEntries: 0, reason: DOWNGRADED },
  ingest: { ingested: false },
  ingestBatch: { ingestedCount: 0 },
};

/** The engine's answer, or the fallback's; throws aborts, and what the policy does not answer. */
export async function invoke(scope: Scope, method: EngineMethod, params: object): Promise<unknown> {
  const { guarded, lent } = scope;
  const { abortSignal } = params as { abortSignal?: AbortSignal };
  const signals = [abortSignal, lent.signal].filter((signal) => signal !== undefined);
  for (const signal of signals) signal.throwIfAborted();
  const isEnded = (error: unknown) =>
    signals.some((signal) => signal.aborted && isAbort(error, signal));
  if (scope.unusable !== undefined) throw scope.unusable.error;
  let mayRetry = true;
  while (failureIn(scope) === undefined) {
    const report = stopwatch(scope, method);
    try {
      const result = await guarded.run(() => callEngine(scope, method, params));
      report("ok");
      noteAnswer(scope, method);
      return result;
    } catch (error) {
      if (isEnded(error)) {
        report("aborted");
        throw error;
      }
      const reason = describeError(error);
      report(ContextEngineError.is(error, "ENGINE_TIMEOUT") ? "timeout" : "failed", reason);
      if (mayRetry && isTransient(error)) {
        mayRetry = false;
        guarded.log.warn(`engine "${guarded.engineId}": ${method} failed: ${reason}; asked again`);
        await sleep(RETRY_PAUSE_MS, AbortSignal.any(signals));
      } else return answerFailure(scope, method, params, error);
    }
  }
  return callFallback(scope, method, params);
}

function stopwatch({ guarded, lent }: Scope, method: EngineMethod) {
  const started = guarded.clock.monotonic();
  return (outcome: EngineCallReport["outcome"], detail?: string) =>
    lent.record?.({
      method,
      durationMs: guarded.clock.monotonic() - started,
      outcome,
      ...(detail !== undefined && { detail }),
    });
}

/** The engine's own answer, in time and as the contract says, or a throw. */
async function callEngine(scope: Scope, method: EngineMethod, params: object): Promise<unknown> {
  const { guarded, lent, info, methods } = scope;
  const { engine, engineId, bounds, learned, log } = guarded;
  const implementation = methods[method];
  const boundMs = bounds[method];
  const isAside = () => scope.isReleased || failureIn(scope) !== undefined;
  const loan = lendCall({ engineId, method, params, signal: lent.signal, isAside });
  let answer: unknown;
  try {
    const result = await within<unknown>(
      {
        boundMs,
        signal: loan.signal,
        onTimeout: () => {
          const error = engineTimeout(engineId, method, boundMs);
          loan.end(error);
          throw error;
        },
        onLate({ ok }) {
          const isUndone = ok && method === "prepareSubagentSpawn";
          log.warn(
            `engine "${engineId}": ${method} ${ok ? "answered" : "failed"} after the host had stopped waiting; ${isUndone ? "undone" : "ignored"}`,
          );
          if (isUndone) void undoLatePreparation(guarded, answer);
        },
      },
      async (restart) => {
        answer = await withRuntimeCompaction(loan.compaction(builtInOf(lent, restart)), () =>
          callCompatibly({
            method,
            params: loan.params,
            declared: info.acceptedHostParams,
            learned,
            call: (given) => implementation?.call(engine, given),
          }),
        );
        return answer;
      },
    );
    const { messages } = params as { messages?: readonly AgentMessage[] };
    const taken = takeResult(method, result, messages);
    if (taken.ok) return taken.value;
    throw new ContextEngineError(
      "ENGINE_OPERATION_FAILED",
      `context engine "${engineId}" ${method}() returned an invalid result: ${taken.problem}`,
      { engineId, operation: method },
    );
  } finally {
    loan.end();
  }
}

/** What a failure means by the guard's policy: a throw, or the fallback's answer. */
async function answerFailure(
  scope: Scope,
  method: EngineMethod,
  params: object,
  error: unknown,
): Promise<unknown> {
  if (!setAsideFor(scope, method, error) || FAIL_CLOSED.has(method)) throw error;
  return callFallback(scope, method, params).catch(() => {
    throw error;
  });
}

async function callFallback(scope: Scope, method: EngineMethod, params: object): Promise<unknown> {
  const report = stopwatch(scope, method);
  const fallback = await fallbackOf(scope);
  const answer = fallback[method] as ((params: object) => unknown) | undefined;
  const result = answer === undefined ? FALLBACK_RESULTS[method] : await answer(params);
  report("fallback");
  return result;
}

/** Built-in compaction that delegates in turn would find itself: it finds nothing. */
const builtInOf = ({ compaction }: CallScope, onProgress: () => void) =>
  compaction &&
  ((params: Parameters<typeof compaction>[0]) =>
    withRuntimeCompaction(undefined, () => compaction(params, { onProgress })));
