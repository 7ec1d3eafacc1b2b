// Sends a refused request again with the one change that answers the refusal.
import type { Remedy } from "../../recovery/remedy.ts";
import { TO_THE_MODEL } from "../order.ts";
import { modelName } from "../perform/model.ts";
import { doneOnly, type Step } from "../step.ts";
import type { LoopFailure, Turn } from "../turn.ts";

export function applyRemedy(turn: Turn, { error, sent }: LoopFailure, remedy: Remedy): Step {
  const { recovery, setup, remedies, helped, recoveries, refusedRequest } = turn;
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
      recoveries: [
        ...recoveries,
        { model, kind: because, action: "remedy", remedy: remedy.kind, message },
      ],
    },
    TO_THE_MODEL,
    {
      do: "log",
      level: "warn",
      message: `model ${model} refused a request (${because}); asked again ${remedy.kind.replaceAll("-", " ")}: ${message}`,
      fields: { sessionKey: turn.session.sessionKey },
    },
  );
}
