// Lets the next model of the chain answer in place of one that failed.
import { planBudget } from "@clew/plugin-sdk/host";
import { WHAT_HAPPENED } from "../../recovery/plan-fallback.ts";
import { toTheModel } from "../order.ts";
import { modelName } from "../perform/model.ts";
import { doneOnly, type Step } from "../step.ts";
import { type LoopFailure, NO_RECOVERY_YET, type Turn } from "../turn.ts";

/** The history is read anew: each model gets it as its own policy wants it. */
export function fallBack(turn: Turn, { error }: LoopFailure, to: number): Step {
  const { setup, recoveries } = turn;
  const choice = setup.fallbacks[to]!;
  const { model, ask = {}, leftOut = [], tokenRatio = 1, water = {} } = choice;
  const { kind, message } = error;
  const from = modelName(setup.model);
  const next = modelName(model);
  const settings = { ...setup.settings, tokenRatio, water };
  const { reserveTokens } = settings;
  return doneOnly(
    {
      ...turn,
      setup: {
        ...setup,
        ...{ model, ask, leftOut, settings },
        budget: planBudget({
          contextWindow: model.contextWindow,
          fixedTokens: setup.budget.fixedTokens,
          ...{ reserveTokens, tokenRatio },
        }),
        fallbacks: setup.fallbacks.slice(to + 1),
        fallback: kind,
      },
      recovery: NO_RECOVERY_YET,
      remedies: [],
      // What did not help is not worth remembering.
      helped: [],
      untold: null,
      refusedRequest: null,
      failure: null,
      compactionFailure: null,
      recoveries: [
        ...recoveries,
        {
          ...{ model: from, kind, action: "fallback" as const, to: next, message },
          ...(error.kind === "rate_limited" &&
            error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
        },
      ],
    },
    toTheModel(turn.setup),
    // What another model counted says nothing of this one.
    { do: "forget-measurement" },
    {
      do: "log",
      level: "warn",
      message: `model ${from} failed (${kind}); ${next} answers instead: ${message}`,
      // Whoever shows the turn shows the notice.
      fields: { sessionKey: turn.session.sessionKey, isNotice: true },
    },
    {
      do: "emit",
      event: { type: "notice", text: `${from} ${WHAT_HAPPENED[kind]}; ${next} answers instead.` },
    },
  );
}
