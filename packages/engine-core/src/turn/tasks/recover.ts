// Does what was decided about a failed model call, or a request that does not fit.
import { planBudget } from "@clew/plugin-sdk/host";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import { FALLBACK_ENGINE_ID } from "../../engine/registry.ts";
import { withCountedRatio } from "../counted-ratio.ts";
import type { Ask } from "../effects.ts";
import type { Answer } from "../facts.ts";
import { toTheModel } from "../order.ts";
import { ask, done, doneOnly, type Step, type Task } from "../step.ts";
import type { CompactionUnderWay, LoopFailure, RecoveryState, Turn } from "../turn.ts";
import { fallBack } from "./fall-back.ts";
import { planRecovery, type RecoveryStep } from "./plan-recovery.ts";
import { applyRemedy } from "./remedy.ts";

/** Of the prompt budget: to cut less is not worth what it costs to send the rest anew. */
const LEAST_CUT_SHARE = 0.2;

export const recover: Task = {
  begin(turn) {
    const { failure } = turn;
    if (failure === null) return done(turn);
    const known = withCountedRatio(withNamedWindow(withFruitless(turn), failure), failure);
    const { setup, composed, recovery } = known;
    const step = planRecovery(failure, recovery, {
      fill: composed.lastPromptTokens / setup.budget.promptBudget,
      compacts: setup.host.compacts && setup.engine.id !== FALLBACK_ENGINE_ID,
      isUnwindowed: failure.heldBack === true && composed.size?.source === "unwindowed",
      isTooLargeAlone: isTooLargeAlone(known),
      isExecuted: setup.execution !== null,
      model: setup.model,
      candidates: setup.fallbacks,
    });
    return take(known, failure, step);
  },
  take(turn, answer) {
    if (answer.type !== "cut") return done(turn);
    if (answer.results === 0) return doneOnly(turn, ["recover"]);
    return doneOnly(turn, toTheModel(turn.setup), {
      do: "emit",
      event: { type: "notice", text: cutText(answer) },
    });
  },
};

function cutText({ results, freedTokens }: Extract<Answer, { type: "cut" }>): string {
  const what = results === 1 ? "1 tool result was" : `${results} tool results were`;
  return `${what} shortened, by about ${freedTokens.toLocaleString("en-US")} tokens, so that the next request fits; the transcript has them whole.`;
}

/** By the least it may have: then there is no use in asking anybody about it. */
const isTooLargeAlone = ({ setup: { prompt, settings, model } }: Turn): boolean =>
  settings.tokenRatio * estimateMessage({ role: "user", content: prompt.content }).low >
  model.contextWindow;

function take(turn: Turn, failure: LoopFailure, step: RecoveryStep): Step {
  const { recovery, setup } = turn;
  switch (step.kind) {
    case "surface":
      return doneOnly(turn, ["refuse"]);
    case "remedy":
      return applyRemedy(turn, failure, step.remedy);
    case "fall-back":
      return fallBack(turn, failure, step.to);
    case "send":
      return doneOnly(
        { ...turn, recovery: { ...recovery, providerDecides: true } },
        toTheModel(turn.setup),
      );
    case "retry": {
      const overflowAttempts = recovery.overflowAttempts + 1;
      return doneOnly(
        { ...turn, recovery: { ...recovery, overflowAttempts, autoCompacted: false } },
        toTheModel(turn.setup),
      );
    }
    case "cut":
      return ask(
        { ...turn, recovery: { ...recovery, cut: true } },
        { do: "cut-results", ...planCut(turn, failure) },
      );
    case "compact":
      return doneOnly(
        {
          ...turn,
          recovery: {
            ...countAttempt(recovery, step.trigger),
            compactedFor: turn.composed.items,
          },
          compaction: {
            by: step.by,
            before: turn.session,
            outcome: null,
            request: {
              trigger: step.trigger,
              target: "budget",
              tokenBudget: failure.heldBack ? setup.budget.promptBudget : setup.model.contextWindow,
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

/** What was counted or estimated of the request that is too large. */
const observedTokens = (turn: Turn, failure: LoopFailure): number =>
  knownTokens(turn, failure) ?? turn.setup.model.contextWindow + 1;

function knownTokens({ composed }: Turn, { error, heldBack }: LoopFailure): number | undefined {
  const observed = error.kind === "overflow" ? error.observedTokens : undefined;
  return observed ?? (heldBack ? composed.size?.tokens : undefined);
}

/** Down to the low mark in one step, or not at all (spec "compaction", "Decided since" 3). */
function planCut(
  turn: Turn,
  failure: LoopFailure,
): Omit<Extract<Ask, { do: "cut-results" }>, "do"> {
  const { budget, settings } = turn.setup;
  const { fixed = 0, water } = turn.composed.size ?? {};
  const ratio = Math.max(1, settings.tokenRatio);
  const left = water?.low ?? budget.promptBudget / 2;
  const known = knownTokens(turn, failure) ?? 0;
  return {
    freeTokens: Math.max(0, observedTokens(turn, failure) - fixed - left) / ratio,
    mustFreeTokens: Math.max(0, known - budget.promptBudget) / ratio,
    leastTokens: (LEAST_CUT_SHARE * budget.promptBudget) / ratio,
  };
}

/** Who said that it compacted, and left the very request that did not fit, is not asked again. */
function withFruitless(turn: Turn): Turn {
  const { recovery, composed, compaction } = turn;
  const { compactedFor: before } = recovery;
  const isSame =
    before !== null &&
    before.length === composed.items.length &&
    before.every(({ message }, index) => message === composed.items[index]!.message);
  return isSame && compaction !== null && compaction.outcome !== null
    ? { ...turn, recovery: { ...recovery, ...whoCannot(compaction) } }
    : turn;
}

/** What an engine delegates is the host's own compaction. */
export const whoCannot = ({
  by,
  outcome,
}: CompactionUnderWay): Pick<RecoveryState, "engineCannot" | "hostCannot"> => ({
  engineCannot: true,
  hostCannot: by === "built-in" || outcome?.delegated === true,
});

/** The provider knows how much its model holds: the rest of the turn goes by that. */
function withNamedWindow(turn: Turn, { error }: LoopFailure): Turn {
  const { setup } = turn;
  const named = error.kind === "overflow" ? error.windowTokens : undefined;
  if (named === undefined || named >= setup.model.contextWindow) return turn;
  const { fixedTokens } = setup.budget;
  const { reserveTokens, tokenRatio } = setup.settings;
  return {
    ...turn,
    setup: {
      ...setup,
      model: { ...setup.model, contextWindow: named },
      budget: planBudget({ contextWindow: named, reserveTokens, fixedTokens, tokenRatio }),
    },
  };
}
