// Lets an engine that owns compaction choose again in the middle of a turn.
import { viewProblem } from "../../request/view-problem.ts";
import { ask, done, type Task } from "../step.ts";
import type { Turn } from "../turn.ts";
import { showPruned } from "./assemble.ts";
import { answerBadView } from "./bad-view.ts";

/**
 * Before each further call of a turn (contract §3.5). Eager: from history and turn together.
 * Durable: from the history before the turn, and the host appends the turn. A failure means
 * un-assembled messages for this call.
 */
export const assembleAgain: Task = {
  begin(turn) {
    const fresh = { ...turn, view: null };
    if (!turn.engine.ownsCompaction || turn.engine.aside !== null) return done(fresh);
    return ask(fresh, {
      do: "assemble",
      items: turn.history,
      promptId: turn.prompt?.id,
      again: true,
      withTurn: turn.setup.lifecycle === "eager",
    });
  },
  take(turn, answer) {
    switch (answer.type) {
      case "assembled": {
        const { choice, turn: running } = answer;
        const withTurn = turn.setup.lifecycle === "eager";
        const problem = viewProblem(choice.items, {
          history: turn.history,
          turn: withTurn ? running : null,
          contextWindow: turn.setup.model.contextWindow,
        });
        if (problem !== undefined) return answerBadView(turn, problem, unassembled);
        const chosen = showPruned(choice.items, turn.projections);
        return done({ ...turn, view: { items: chosen, withTurn } });
      }
      case "not-assembled":
        return done(unassembled(turn), {
          do: "log",
          level: "warn",
          message: `context engine failed in the tool loop, using un-assembled messages for this call: ${answer.reason}`,
        });
      default:
        return done(turn);
    }
  },
};

/** The history as it was read, for this call only. */
const unassembled = (turn: Turn): Turn => ({
  ...turn,
  view: { items: turn.history, withTurn: false },
});
