// What happens when a request does not fit or the model times out.
import { promptTokensOf } from "@clew/plugin-sdk/host";
import { applyToolResultTruncation, planToolResultTruncation } from "@clew/plugin-sdk/transcript";
import { charsToFree } from "../request/precheck.ts";
import { refreshContext } from "../session/session-state.ts";
import type { Assembly } from "./assembly.ts";
import {
  type CompactionOutcome,
  compactThroughEngine,
  MAX_OVERFLOW_ATTEMPTS,
} from "./compaction.ts";
import type { LoopFailure } from "./model-loop.ts";
import { rewriteEntries } from "./rewrite.ts";
import type { RecoveryState, TurnRun } from "./turn-run.ts";

const MAX_TIMEOUT_COMPACTIONS = 2;
/**
 * A timeout with the context fuller than this share of the budget is taken for a sign
 * of size (contract §3.7).
 */
const TIMEOUT_COMPACTION_SHARE = 0.65;

export type RecoveryStep =
  | { kind: "retry" }
  | { kind: "truncate" }
  | {
      kind: "compact";
      trigger: "budget" | "overflow" | "timeout_recovery";
      attempt: number;
      thenTruncate: boolean;
    }
  | { kind: "surface" };

/**
 * The next thing to try. `tried` is the state before it; `fill` is the last
 * prompt's share of the budget.
 */
export function planRecovery(
  failure: LoopFailure,
  tried: RecoveryState,
  fill: number,
): RecoveryStep {
  if (failure.error.kind === "timeout") {
    const worthIt =
      fill > TIMEOUT_COMPACTION_SHARE && tried.timeoutCompactions < MAX_TIMEOUT_COMPACTIONS;
    return worthIt
      ? {
          kind: "compact",
          trigger: "timeout_recovery",
          attempt: tried.timeoutCompactions + 1,
          thenTruncate: false,
        }
      : { kind: "surface" };
  }
  if (failure.error.kind !== "overflow") return { kind: "surface" };
  const route = failure.precheck?.route;
  if (route === "truncate_tool_results_only" && !tried.truncated) return { kind: "truncate" };
  if (tried.overflowAttempts < MAX_OVERFLOW_ATTEMPTS) {
    if (tried.autoCompacted) return { kind: "retry" };
    const trigger = failure.precheck === undefined ? "overflow" : "budget";
    return {
      kind: "compact",
      trigger,
      attempt: tried.overflowAttempts + 1,
      thenTruncate: route === "compact_then_truncate",
    };
  }
  return tried.truncated ? { kind: "surface" } : { kind: "truncate" };
}

/** Takes steps until one changed the context (true: try again) or none is left (false). */
export async function recover(
  run: TurnRun,
  assembly: Assembly,
  failure: LoopFailure,
): Promise<boolean> {
  const { budget } = assembly;
  const used = run.state.lastUsage;
  const fill = used === undefined ? 0 : promptTokensOf(used) / budget.promptBudget;
  for (;;) {
    const step = planRecovery(failure, run.recovery, fill);
    switch (step.kind) {
      case "surface":
        return false;
      case "retry":
        run.recovery = {
          ...run.recovery,
          overflowAttempts: run.recovery.overflowAttempts + 1,
          autoCompacted: false,
        };
        return true;
      case "truncate":
        run.recovery = { ...run.recovery, truncated: true };
        if (await truncateToolResults(run, assembly, failure)) return true;
        break;
      case "compact": {
        countAttempt(run, step.trigger);
        const result = await compactThroughEngine(run, {
          trigger: step.trigger,
          target: "budget",
          tokenBudget:
            failure.precheck === undefined ? run.model.contextWindow : budget.promptBudget,
          currentTokenCount:
            step.trigger === "timeout_recovery" ? undefined : observedTokens(run, failure),
          attempt: step.attempt,
        });
        if (helped(run, failure, result)) {
          if (step.thenTruncate) await truncateToolResults(run, assembly, failure);
          return true;
        }
        // The engine answered that it cannot: asking again would be the same question.
        if (step.trigger === "timeout_recovery") return false;
        run.recovery = { ...run.recovery, overflowAttempts: MAX_OVERFLOW_ATTEMPTS };
        run.compactionFailure = {
          reason: result.reason ?? "no reason given",
          timedOut: result.timedOut,
        };
      }
    }
  }
}

function countAttempt(run: TurnRun, trigger: "budget" | "overflow" | "timeout_recovery"): void {
  const { overflowAttempts, timeoutCompactions } = run.recovery;
  run.recovery =
    trigger === "timeout_recovery"
      ? { ...run.recovery, timeoutCompactions: timeoutCompactions + 1 }
      : { ...run.recovery, overflowAttempts: overflowAttempts + 1 };
}

function helped(run: TurnRun, failure: LoopFailure, result: CompactionOutcome): boolean {
  if (result.ok && result.compacted) return true;
  if (failure.precheck === undefined || !result.ok || result.code !== "no-conversation")
    return false;
  // Nothing to compact, so the number that said otherwise was stale.
  const stale = run.state.measurement !== undefined;
  run.state.measurement = undefined;
  return stale;
}

function observedTokens(run: TurnRun, { error, precheck }: LoopFailure): number {
  const observed = error.kind === "overflow" ? error.observedTokens : undefined;
  return observed ?? precheck?.estimate ?? run.model.contextWindow + 1;
}

/**
 * Shortens stored tool results by re-appending the branch with cut ones; the
 * originals stay in the file.
 */
async function truncateToolResults(
  run: TurnRun,
  assembly: Assembly,
  failure: LoopFailure,
): Promise<boolean> {
  const { items } = refreshContext(run.state, run.transcript);
  const messages = items.map((item) => item.message);
  const { contextWindow } = run.model;
  const freeChars = charsToFree(observedTokens(run, failure) - assembly.budget.promptBudget);
  const plan = planToolResultTruncation(messages, { contextWindow, freeChars });
  if (plan.cuts.length === 0) return false;
  const shortened = applyToolResultTruncation(messages, plan);
  const replacements = plan.cuts.map(({ index }) => ({
    entryId: items[index]!.entryId,
    message: shortened[index]!,
  }));
  const result = await rewriteEntries(run, { replacements });
  run.ports.log.info(
    `recovery: cut ${result.rewrittenEntries} tool results, ${result.bytesFreed} bytes`,
  );
  return result.changed;
}

/** What the person is told when nothing helped (contract §3.7). */
export function overflowMessage(run: TurnRun, failure: LoopFailure): string {
  if (failure.precheck !== undefined && run.compactionFailure !== undefined) {
    const { timedOut, reason } = run.compactionFailure;
    return `Auto-compaction ${timedOut ? "timed out" : "failed"} before the next model request (${reason}). Try again or run /compact.`;
  }
  return "Context overflow: prompt too large for the model. Try /reset (or /new) to start a fresh session, /compact, or a model with a larger window.";
}
