// Reads the stored history as the engine may see it.
import { ask, done, type Task } from "../step.ts";

/** What the policy must find in the transcript the next time is appended to it. */
export const read: Task = {
  begin: (turn) => ask(turn, { do: "read", promptId: turn.prompt?.id }),
  take(turn, answer) {
    if (answer.type !== "read") return done(turn);
    const { history, projections, sideRecords, remedies } = answer;
    const informed = {
      ...turn,
      history,
      projections,
      remedies: [...remedies, ...turn.helped.map(({ remedy }) => remedy)],
      assembly: null,
      view: null,
      freshAssembly: true,
    };
    if (sideRecords.length === 0) return done(informed);
    const entries = sideRecords.map((record) => ({ type: "custom" as const, ...record }));
    return ask(informed, { do: "append", as: "side-records", entries });
  },
};
