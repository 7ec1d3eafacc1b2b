// Lets the engine see a transcript that existed before the run.
import { ask, done, type Task } from "../step.ts";
import type { Turn } from "../turn.ts";

/**
 * Before every run whose transcript exists (contract §3.1 step 2); an engine that reads the file
 * itself must never be called before there is one, and not at all where none is kept. What it
 * imports acknowledges nothing that came after its first sight: it may have read a part only.
 */
export const bootstrap: Task = {
  begin: (turn) =>
    turn.setup.hadSession &&
    (turn.setup.lifecycle === "durable" || turn.session.sessionFile !== undefined) &&
    turn.engine.aside === null &&
    turn.setup.engine.methods.has("bootstrap")
      ? ask(turn, { do: "bootstrap" })
      : done(turn),
  take: (turn, answer) =>
    done(answer.type === "bootstrapped" && !answer.ok ? withoutBootstrap(turn) : turn),
};

/** What counts on a bootstrap that worked is left out. */
const withoutBootstrap = (turn: Turn): Turn => ({
  ...turn,
  todo: turn.todo.filter((task) => task !== "first-sight" && task !== "maintain-bootstrap"),
});
