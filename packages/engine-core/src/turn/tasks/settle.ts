// Waits for the session's background maintenance, which works on the same transcript.
import { ask, done, type Task } from "../step.ts";

export const settle: Task = {
  begin: (turn) => ask(turn, { do: "settle" }),
  take: (turn) => done(turn),
};
