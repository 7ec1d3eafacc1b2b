// Decides how a turn in Codex ended, and what its thread is from then on.
import type { ExecutionOutcome } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import { visible } from "../../text/visible.ts";
import { toldBy } from "../harness.ts";
import type { Binding, ThreadState } from "./binding.ts";
import { CodexRefusal } from "./connection.ts";
import type { CodexTurnError } from "./protocol.ts";
import { errorOf } from "./told.ts";

export interface TurnEnd {
  outcome: ExecutionOutcome;
  /** Undefined: the thread is for this turn alone, or what it was. */
  state: ThreadState | undefined;
}

/** How far a turn is. */
export interface TurnStanding {
  /** Null: its thread is for this turn alone, or there is none yet. */
  binding: Pick<Binding, "state"> | null;
  /** Undefined: not told yet. */
  turnId: string | undefined;
  /** A model has seen the thread. */
  hasAnswered: boolean;
  /** Of the newest call, as its provider told; null = it was answered. */
  refusal: ModelError | null;
}

/** Pure. It has its reply. `isStale`: its thread holds no more what the engine chose. */
export const planCompleted = (isStale: boolean): TurnEnd => ({
  outcome: { status: "completed" },
  state: isStale
    ? { name: "stale", why: "Codex compacted the last one by itself" }
    : { name: "ready" },
});

/** Pure. Why a turn that was stopped has no reply. `silentForS`: it was, as Codex said nothing. */
export function planStopped(
  standing: TurnStanding,
  { isAborted, silentForS }: { isAborted: boolean; silentForS: number | undefined },
): TurnEnd {
  const { refusal } = standing;
  const state = brokenState(standing);
  if (refusal !== null && refusal.kind === "auth" && !isAborted)
    return { outcome: { status: "failed", error: refusal }, state };
  if (silentForS === undefined) return { outcome: { status: "interrupted" }, state };
  const why = `Codex said nothing for ${silentForS} s in the middle of a turn, so it was stopped.`;
  return planFailed(standing, why, "timeout");
}

/** Pure. */
export const planFailed = (
  standing: TurnStanding,
  message: string,
  kind: "unavailable" | "timeout" = "unavailable",
): TurnEnd => ({
  outcome: { status: "failed", code: "HARNESS_FAILED", error: { kind, message } },
  state: brokenState(standing),
});

/** Pure. Codex ended it without a reply; `told`: why, as far as it said. */
export function planBroken(
  standing: TurnStanding,
  { status, told }: { status: string; told: CodexTurnError | undefined },
): TurnEnd {
  if (told === undefined)
    return planFailed(standing, `Codex ended the turn as "${visible(status)}".`);
  const error = toldBy(errorOf(told), standing.refusal);
  return {
    outcome: { status: "failed", error },
    state:
      error.kind === "overflow"
        ? { name: "stale", why: "the context was too large for the last one" }
        : brokenState(standing),
  };
}

/** Pure. It could not be begun, or its thread not be made. */
export function planNotBegun(standing: TurnStanding, error: unknown): TurnEnd {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof CodexRefusal) {
    const text = `Codex refused ${error.method}: ${message}`;
    const refused = { kind: "invalid_request" as const, message: text };
    return {
      outcome: { status: "failed", code: "HARNESS_FAILED", error: refused },
      // Nothing began: the thread is what it was.
      state: standing.binding?.state.name === "running" ? { name: "ready" } : undefined,
    };
  }
  const code = ContextEngineError.is(error) ? error.code : "HARNESS_FAILED";
  return {
    outcome: { status: "failed", code, error: { kind: "unavailable", message } },
    state: brokenState(standing),
  };
}

/** What holds a turn without an end. */
function brokenState({ binding, turnId, hasAnswered }: TurnStanding): ThreadState | undefined {
  if (binding === null) return undefined;
  if (!hasAnswered && binding.state.name === "opening") return { name: "opening" };
  return turnId === undefined ? binding.state : { name: "failed", turnId };
}

/** Pure. What a binding says besides, once all of the turn is in the transcript. */
export function boundAfter(
  binding: Binding | null,
  {
    outcome,
    stored,
    compactions,
  }: {
    outcome: ExecutionOutcome;
    /** Ids that the thread holds when the turn is completed. */
    stored: readonly string[];
    compactions: number;
  },
): Partial<Binding> {
  if (outcome.status !== "completed" || binding === null) return {};
  return {
    ...(stored.length > 0 && { through: stored.at(-1)!, withIt: [...stored] }),
    // What was added behind the first addition is gone with a compaction of Codex's own.
    addition: compactions > 0 ? binding.firstAddition : binding.addition,
    ...(compactions > 0 && { isCompacted: true as const }),
  };
}
