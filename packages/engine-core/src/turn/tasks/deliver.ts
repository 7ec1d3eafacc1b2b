// Gives the engine what it has not acknowledged yet, turn by turn, oldest first.
import { isBlocked } from "../../session/delivery-ledger.ts";
import type { PendingTurn } from "../../session/pending-turns.ts";
import { planDeliveries } from "../delivery.ts";
import type { Tell } from "../effects.ts";
import { ask, done, type Step, type Task } from "../step.ts";
import type { Turn } from "../turn.ts";

/** An engine that failed is not asked again in this turn; what it did not take stays pending. */
export const deliver: Task = {
  begin: (turn) =>
    turn.engine.aside === null
      ? ask({ ...turn, delivery: null }, { do: "survey" })
      : done({ ...turn, delivery: null }),
  take(turn, answer) {
    switch (answer.type) {
      case "surveyed": {
        const { setup } = turn;
        const plan = planDeliveries(
          turnsBefore(turn, answer.turns),
          setup.lifecycle,
          setup.engine.methods,
        );
        return deliverNext({ ...turn, delivery: { ...plan, failure: null } });
      }
      case "delivered":
        return record(turn, answer);
      case "recorded":
        return deliverNext(turn);
      default:
        return done(turn);
    }
  },
};

/** A turn that goes on is handed over with its end, like any other. */
const turnsBefore = ({ todo, prompt }: Turn, turns: readonly PendingTurn[]) =>
  todo.includes("admit") ? turns.filter(({ id }) => id !== prompt?.id) : turns;

/** In the tool loop only an eager owner is told at once: it chooses from the turn, too. */
export const deliverInLoop: Task = {
  begin: (turn) =>
    turn.engine.ownsCompaction && turn.setup.lifecycle === "eager"
      ? deliver.begin(turn)
      : done(turn),
  take: deliver.take,
};

function deliverNext(turn: Turn): Step {
  const { delivery, engine, history } = turn;
  const [first] = delivery?.queue ?? [];
  if (first === undefined || delivery?.failure || engine.aside !== null) return done(turn);
  return ask(turn, { do: "deliver", delivery: first, history });
}

/**
 * A delivery counts only when the call returned; a refusal is counted, too. With the turn that is
 * parked the reason is gone for which the engine was set aside.
 */
function record(turn: Turn, { ok, reason }: { ok: boolean; reason: string }): Step {
  const { delivery, setup } = turn;
  const [given, ...queue] = delivery?.queue ?? [];
  if (delivery === null || given === undefined) return done(turn);
  if (ok)
    return ask(
      { ...turn, delivery: { ...delivery, queue } },
      { do: "record", change: { kind: "acknowledged", ids: given.ids } },
    );
  const version = setup.engine.info.version ?? null;
  const change = { kind: "refused" as const, turnId: given.turn.id, reason, version };
  const attempts = given.turn.attempts + 1;
  const said = `context engine ${given.method} failed: ${reason}`;
  const log = (message: string): Tell => ({ do: "log", level: "warn", message });
  const refused = (failure: string | null) => ({
    ...turn,
    delivery: { ...delivery, queue, failure },
  });
  if (!isBlocked({ attempts, reason, version }, version))
    return ask(refused(reason), { do: "record", change }, log(said));
  const { id } = given.turn;
  const text = `Engine "${setup.engine.id}" refused one turn ${attempts} times: it goes on without that turn from the next message on.`;
  return ask(
    refused(null),
    { do: "record", change },
    log(`${said}; turn ${id} is blocked after ${attempts} attempts`),
    { do: "emit", event: { type: "notice", text } },
    { do: "readmit" },
  );
}
