// Decides what is done about a model call that failed, or a request that does not fit.
import type { ModelRef } from "@clew/plugin-sdk/host";
import { type ModelChoice, planFallback } from "../../recovery/plan-fallback.ts";
import { planRemedy } from "../../recovery/plan-remedy.ts";
import { profileOf, type Remedy } from "../../recovery/remedy.ts";
import { MAX_OVERFLOW_ATTEMPTS } from "../compaction.ts";
import type { LoopFailure, RecoveryState } from "../turn.ts";

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
  /** Shorten old tool results in bulk. */
  | { kind: "cut" }
  | {
      kind: "compact";
      by: "engine" | "built-in";
      trigger: "budget" | "overflow" | "timeout_recovery";
      attempt: number;
    }
  /** Send it differently. */
  | { kind: "remedy"; remedy: Remedy }
  /** Ask another model: the place among those that are left. */
  | { kind: "fall-back"; to: number }
  | { kind: "surface" };

export interface RecoveryFacts {
  /** The last prompt's share of the budget. */
  fill: number;
  /** This host has a compaction of its own that the engine does not reach anyway. */
  compacts: boolean;
  /** What does not fit is the history that the engine chose from, not what it chose. */
  isUnwindowed: boolean;
  /** The person's message has more tokens than the model holds, whatever stands beside it. */
  isTooLargeAlone: boolean;
  /** A program runs the turn: it is asked again only after a compaction, once. */
  isExecuted: boolean;
  /** Who failed. */
  model: ModelRef;
  /** Who may answer instead. */
  candidates: readonly ModelChoice[];
}

/**
 * The next thing to try. `tried` is the state before it. What a person has seen the beginning of is
 * never asked again, and neither is what was aborted. A refusal gets its one remedy; what does not
 * fit is made smaller, by the engine first, then by the host, and results are cut last, once. A
 * message that is too large alone is not: nobody is asked about it. What is left is for another
 * model.
 */
export function planRecovery(
  failure: Pick<LoopFailure, "error" | "heldBack" | "sent">,
  tried: RecoveryState,
  facts: RecoveryFacts,
): RecoveryStep {
  const { error, sent } = failure;
  const { model, candidates } = facts;
  if (error.kind === "aborted" || sent?.shown === true) return { kind: "surface" };
  if (facts.isExecuted && isFinal(failure, tried)) return { kind: "surface" };
  const smaller = planSmaller(failure, tried, facts);
  if (smaller !== undefined) return smaller;
  const remedy =
    sent && planRemedy(error, { profile: profileOf(model), at: sent.at, tried: tried.remedies });
  if (remedy !== undefined) return { kind: "remedy", remedy };
  const to = planFallback(error, model, candidates);
  return to === undefined ? { kind: "surface" } : { kind: "fall-back", to };
}

/** What a program came to is not made another by asking it again; a request held back never ran. */
const isFinal = (
  { error, heldBack }: Pick<LoopFailure, "error" | "heldBack">,
  { overflowAttempts }: RecoveryState,
) => heldBack !== true && (error.kind !== "overflow" || overflowAttempts > 0);

/** Undefined: size is not the matter, or nothing makes it smaller. */
function planSmaller(
  failure: Pick<LoopFailure, "error" | "heldBack">,
  tried: RecoveryState,
  { fill, compacts, isUnwindowed, isTooLargeAlone, model, candidates }: RecoveryFacts,
): RecoveryStep | undefined {
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
      : undefined;
  }
  if (failure.error.kind !== "overflow" || isTooLargeAlone) return undefined;
  if (isUnwindowed && tried.engineCannot) return { kind: "retry" };
  if (tried.overflowAttempts < MAX_OVERFLOW_ATTEMPTS) {
    if (tried.autoCompacted) return { kind: "retry" };
    const trigger = failure.heldBack ? "budget" : "overflow";
    const attempt = tried.overflowAttempts + 1;
    if (!tried.engineCannot) return { kind: "compact", by: "engine", trigger, attempt };
    if (compacts && !tried.hostCannot) return { kind: "compact", by: "built-in", trigger, attempt };
  }
  if (!tried.cut) return { kind: "cut" };
  // A model that holds more is a surer way than an estimate that may be wrong.
  const mayBeSent = failure.heldBack === true && !tried.providerDecides;
  const isHeld = planFallback(failure.error, model, candidates) !== undefined;
  return mayBeSent && !isHeld ? { kind: "send" } : undefined;
}
