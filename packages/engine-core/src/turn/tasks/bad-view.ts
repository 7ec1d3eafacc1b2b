// What is said and counted when the host cannot use an engine's view.
import type { Tell } from "../effects.ts";
import { done, doneOnly, type Step } from "../step.ts";
import type { Turn } from "../turn.ts";

/** Under `strict` the turn ends; else it goes on without the engine's choice. */
export function answerBadView(turn: Turn, reason: string, goOn: (turn: Turn) => Turn): Step {
  const noted = noteBadView(turn, reason);
  if (!turn.setup.engine.strict) return done(goOn(noted.turn), ...noted.effects);
  const message = `Engine "${turn.setup.engine.id}": ${reason}.`;
  const error = { kind: "engine" as const, code: "ENGINE_OPERATION_FAILED" as const, message };
  return doneOnly({ ...noted.turn, error }, [], ...noted.effects);
}

/** The host falls back for this call; a person is told once per turn. */
function noteBadView(turn: Turn, reason: string): { turn: Turn; effects: Tell[] } {
  const { engine, setup } = turn;
  const badViews = engine.badViews + 1;
  const failure = {
    operation: "assemble",
    code: "ENGINE_OPERATION_FAILED" as const,
    reason: `${reason}; the host sends the history as it is`,
  };
  return {
    turn: { ...turn, engine: { ...engine, badViews } },
    effects: [
      { do: "bad-view", failure },
      ...(badViews === 1
        ? [
            {
              do: "emit" as const,
              event: {
                type: "notice" as const,
                text: `Engine "${setup.engine.id}": ${reason}. This call goes without its choice.`,
              },
            },
          ]
        : []),
    ],
  };
}
