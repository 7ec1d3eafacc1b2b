// Lets the engine see a transcript that existed before the run.
import { ask, done, type Task } from "../step.ts";

/**
 * Before every run whose transcript exists (contract §3.1 step 2); an engine that reads the file
 * itself must never be called before there is one, and not at all where none is kept. What it says
 * it imported it need not be given.
 */
export const bootstrap: Task = {
  begin: (turn) =>
    turn.setup.hadSession &&
    (turn.setup.lifecycle === "durable" || turn.session.sessionFile !== undefined) &&
    turn.engine.aside === null &&
    turn.setup.engine.methods.has("bootstrap")
      ? ask(turn, { do: "bootstrap" })
      : done(turn),
  take(turn, answer) {
    if (answer.type !== "bootstrapped") return done(turn);
    const { ok, imported } = answer;
    if (!ok) return done(skipMaintenance(turn));
    if (imported.length === 0 || turn.setup.purpose === "preview") return done(turn);
    return ask(turn, { do: "record", change: { kind: "acknowledged", ids: imported } });
  },
};

const skipMaintenance = (turn: Parameters<Task["begin"]>[0]) => ({
  ...turn,
  todo: turn.todo.filter((task) => task !== "maintain-bootstrap"),
});
