// Sends a refused request differently, and tells of it once something was sent.
import type { Remedy } from "../../recovery/remedy.ts";
import type { Tell } from "../effects.ts";
import { toTheModel } from "../order.ts";
import { modelName } from "../perform/model.ts";
import { doneOnly, type Step } from "../step.ts";
import type { LoopFailure, Turn } from "../turn.ts";

export function applyRemedy(turn: Turn, { error, sent }: LoopFailure, remedy: Remedy): Step {
  const { recovery, setup, remedies, helped, refusedRequest } = turn;
  const model = modelName(setup.model);
  const { kind: because, message } = error;
  // Where the history is no other for it, the provider would only refuse it again.
  const refused = sent !== undefined && "until" in remedy ? { hash: sent.hash, error } : null;
  return doneOnly(
    {
      ...turn,
      recovery: { ...recovery, remedies: [...recovery.remedies, remedy.kind] },
      remedies: [...remedies, remedy],
      helped: [...helped, { model, because, remedy }],
      refusedRequest: refused ?? refusedRequest,
      untold: { model, kind: because, action: "remedy", remedy: remedy.kind, message },
    },
    toTheModel(turn.setup),
  );
}

/** What the newest remedy came to: told of when a request went out, as if it never was when not. */
export function settleRemedy(turn: Turn, wasSent: boolean): { turn: Turn; tell: Tell[] } {
  const { untold, recoveries, remedies, helped } = turn;
  if (untold === null) return { turn, tell: [] };
  if (!wasSent)
    return {
      turn: { ...turn, untold: null, remedies: remedies.slice(0, -1), helped: helped.slice(0, -1) },
      tell: [],
    };
  const { model, kind, remedy = "", message } = untold;
  return {
    turn: { ...turn, untold: null, recoveries: [...recoveries, untold] },
    tell: [
      {
        do: "log",
        level: "warn",
        message: `model ${model} refused a request (${kind}); asked again ${remedy.replaceAll("-", " ")}: ${message}`,
        fields: { sessionKey: turn.session.sessionKey },
      },
    ],
  };
}
