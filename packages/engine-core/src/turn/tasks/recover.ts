// Decides what is done about a request that does not fit, or a model that timed out.

import { FALLBACK_ENGINE_ID } from "../../engine/registry.ts";
import { charsToFree } from "../../request/precheck.ts";
import { MAX_OVERFLOW_ATTEMPTS } from "../compaction.ts";
import { TO_THE_MODEL } from "../order.ts";
import { ask, done, doneOnly, type Step, type Task } from "../step.ts";
import type { LoopFailure, RecoveryState, Turn } from "../turn.ts";

export const MAX_TIMEOUT_COMPACTIONS = 2;
/**
 * A timeout with the context fuller than this share of the budget is taken for a sign
 * of size (contract §3.7).
 */
const TIMEOUT_COMPACTION_SHARE = 0.65;

export type RecoveryStep =
  /** Compaction ran already: assemble and send again. */
  | { kind: "retry" }
  /** Send it all the same: the provider is the judge. */
  | { kind: "send" }
  | { kind: "truncate" }
  | {
      kind: "compact";
      by: "engine" | "built-in";
      trigger: "budget" | "overflow" | "timeout_recovery";
      attempt: number;
    }
  | { kind: "surface" };

/**
 * The next thing to try. `tried` is the state before it; `fill` is the last prompt's share of the
 * budget. The engine is asked first, then the host's own compaction, then results are cut.
 */
export function planRecovery(
  failure: Pick<LoopFailure, "error" | "precheck">,
  tried: RecoveryState,
  fill: number,
  host: { compacts: boolean; ownsCompaction: boolean } = { compacts: false, ownsCompaction: false },
): RecoveryStep {
  if (failure.error.kind === "timeout") {
    const worthIt =
      fill > TIMEOUT_COMPACTION_SHARE && tried.timeoutCompactions < MAX_TIMEOUT_COMPACTIONS;
    return worthIt
      ? {
          kind: "compact",
          by: "engine",
          trigger: "timeout_recovery",
          attempt: tried.timeoutCompactions + 1,
        }
      : { kind: "surface" };
  }
  if (failure.error.kind !== "overflow") return { kind: "surface" };
  const { route, source } = failure.precheck ?? {};
  if (source === "unwindowed_assembled" && tried.engineCannot) return { kind: "retry" };
  if (route === "truncate_tool_results_only" && !tried.truncated && !host.ownsCompaction)
    return { kind: "truncate" };
  if (tried.overflowAttempts < MAX_OVERFLOW_ATTEMPTS) {
    if (tried.autoCompacted) return { kind: "retry" };
    const trigger = failure.precheck === undefined ? "overflow" : "budget";
    const attempt = tried.overflowAttempts + 1;
    if (!tried.engineCannot) return { kind: "compact", by: "engine", trigger, attempt };
    if (host.compacts && !tried.hostCannot)
      return { kind: "compact", by: "built-in", trigger, attempt };
  }
  if (!tried.truncated) return { kind: "truncate" };
  return failure.precheck === undefined || tried.providerDecides
    ? { kind: "surface" }
    : { kind: "send" };
}

export const recover: Task = {
  begin(turn) {
    const { failure, recovery, setup, engine, composed } = turn;
    if (failure === null) return done(turn);
    const { promptBudget } = setup.budget;
    const compacts = setup.host.compacts && setup.engine.id !== FALLBACK_ENGINE_ID;
    const step = planRecovery(failure, recovery, composed.lastPromptTokens / promptBudget, {
      compacts,
      ownsCompaction: engine.ownsCompaction,
    });
    return take(turn, failure, step);
  },
  take(turn, answer) {
    if (answer.type !== "truncated") return done(turn);
    return answer.changed ? doneOnly(turn, TO_THE_MODEL) : doneOnly(turn, ["recover"]);
  },
};

function take(turn: Turn, failure: LoopFailure, step: RecoveryStep): Step {
  const { recovery, setup } = turn;
  switch (step.kind) {
    case "surface":
      return doneOnly(turn, ["refuse"]);
    case "send":
      return doneOnly({ ...turn, recovery: { ...recovery, providerDecides: true } }, TO_THE_MODEL);
    case "retry": {
      const overflowAttempts = recovery.overflowAttempts + 1;
      return doneOnly(
        { ...turn, recovery: { ...recovery, overflowAttempts, autoCompacted: false } },
        TO_THE_MODEL,
      );
    }
    case "truncate":
      return ask(
        { ...turn, recovery: { ...recovery, truncated: true } },
        {
          do: "truncate",
          freeChars: charsToFree(observedTokens(turn, failure) - setup.budget.promptBudget),
        },
      );
    case "compact":
      return doneOnly(
        {
          ...turn,
          recovery: countAttempt(recovery, step.trigger),
          compaction: {
            by: step.by,
            before: turn.session,
            outcome: null,
            request: {
              trigger: step.trigger,
              target: "budget",
              tokenBudget:
                failure.precheck === undefined
                  ? setup.model.contextWindow
                  : setup.budget.promptBudget,
              ...(step.trigger !== "timeout_recovery" && {
                currentTokenCount: observedTokens(turn, failure),
              }),
              attempt: step.attempt,
            },
          },
        },
        ["compact", "weigh"],
      );
  }
}

function countAttempt(
  recovery: RecoveryState,
  trigger: "budget" | "overflow" | "timeout_recovery",
): RecoveryState {
  const { overflowAttempts, timeoutCompactions } = recovery;
  return trigger === "timeout_recovery"
    ? { ...recovery, timeoutCompactions: timeoutCompactions + 1 }
    : { ...recovery, overflowAttempts: overflowAttempts + 1 };
}

function observedTokens({ setup }: Turn, { error, precheck }: LoopFailure): number {
  const observed = error.kind === "overflow" ? error.observedTokens : undefined;
  return observed ?? precheck?.estimate ?? setup.model.contextWindow + 1;
}
