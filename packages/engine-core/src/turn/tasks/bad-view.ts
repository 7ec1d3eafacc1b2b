// What is said and counted when the host cannot use an engine's view.
import type { Tell } from "../effects.ts";
import type { Turn } from "../turn.ts";

/** The host falls back for this call; a person is told once per turn. */
export function noteBadView(turn: Turn, reason: string): { turn: Turn; effects: Tell[] } {
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
