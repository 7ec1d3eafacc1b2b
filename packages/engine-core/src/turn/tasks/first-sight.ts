// Notes what was said before an engine first saw the session.
import { ask, done, type Task } from "../step.ts";
import type { Turn } from "../turn.ts";

/**
 * Whether the messages of the branch count as known at the first sight. An engine that would read
 * the file, where there is none, is told of all of them instead, and so is a durable engine that
 * reads no file.
 */
const knowsThePast = ({ session, setup: { engine, lifecycle } }: Turn): boolean =>
  engine.methods.has("bootstrap") ? session.sessionFile !== undefined : lifecycle === "eager";

/** After the bootstrap, so that what it was shown is what counts as known. */
export const firstSight: Task = {
  begin: (turn) => (turn.engine.aside === null ? ask(turn, { do: "survey" }) : done(turn)),
  take(turn, answer) {
    if (answer.type !== "surveyed" || !answer.firstSight) return done(turn);
    const ids = knowsThePast(turn) ? answer.ids : [];
    const change = { kind: "seen" as const, root: turn.session.sessionId, ids };
    return ask(turn, { do: "record", change });
  },
};
