// Notes what was said before an engine first saw the session.
import type { Answer } from "../facts.ts";
import { ask, done, type Task } from "../step.ts";
import type { Turn } from "../turn.ts";

type Surveyed = Extract<Answer, { type: "surveyed" }>;

/**
 * Whether the messages of the branch count as known at the first sight. An engine that would read
 * the file, where there is none, is told of all of them instead, and so is a durable engine that
 * reads no file.
 */
const knowsThePast = ({ session, setup: { engine, lifecycle } }: Turn): boolean =>
  engine.methods.has("bootstrap") ? session.sessionFile !== undefined : lifecycle === "eager";

/**
 * Who reads no file is told of a message that nobody answered: the turn it began was cut short, and
 * may have been this engine's first.
 */
function pastOf({ setup }: Turn, { ids, unanswered }: Surveyed): readonly string[] {
  const open = new Set(setup.engine.methods.has("bootstrap") ? [] : unanswered);
  return ids.filter((id) => !open.has(id));
}

/** After the bootstrap, so that what it was shown is what counts as known. */
export const firstSight: Task = {
  begin: (turn) => (turn.engine.aside === null ? ask(turn, { do: "survey" }) : done(turn)),
  take(turn, answer) {
    if (answer.type !== "surveyed" || !answer.firstSight) return done(turn);
    const ids = knowsThePast(turn) ? pastOf(turn, answer) : [];
    const change = { kind: "seen" as const, root: turn.session.sessionId, ids };
    return ask(turn, { do: "record", change });
  },
};
