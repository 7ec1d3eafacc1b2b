// Lets the fallback answer while a durable engine lacks earlier turns.
import { done, type Task } from "../step.ts";

export const requireDelivery: Task = {
  begin(turn) {
    const { delivery } = turn;
    const missing = (delivery?.queue.length ?? 0) + (delivery?.left ?? 0);
    if (delivery === null || (delivery.failure === null && missing === 0)) return done(turn);
    const reason = delivery.failure ?? `${missing} older turns have yet to be committed`;
    return done(turn, {
      do: "set-aside",
      failure: {
        operation: "commitTurn",
        code: "ENGINE_OPERATION_FAILED",
        reason: `turns not committed yet: ${missing + (delivery.failure === null ? 0 : 1)} (${reason})`,
      },
    });
  },
  take: (turn) => done(turn),
};
