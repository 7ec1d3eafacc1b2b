// Compacts above the high mark for engines that leave compaction to the host.
import { sizeOfRequest } from "../request-size.ts";
import { ask, done, doneThen, type Task } from "../step.ts";
import type { Turn } from "../turn.ts";

/** Whether somebody compacts above the high mark, once between two replies. */
export const compactsAboveMark = ({ engine, setup, recovery }: Turn): boolean =>
  !engine.ownsCompaction &&
  setup.settings.autoCompaction &&
  setup.host.compacts &&
  !recovery.autoCompacted;

/**
 * An owner decides for itself; a host without built-in compaction, or with it switched off,
 * never does (contract §3.6). A failure is in the report; the turn goes on.
 */
export const autoCompact: Task = {
  begin(turn) {
    const { assembly, history, prompt } = turn;
    if (!compactsAboveMark(turn)) return done(turn);
    return ask(turn, {
      do: "compose",
      items: assembly?.items ?? history,
      addTurn: true,
      promptId: prompt?.id,
      additions: null,
      unwindowed: null,
    });
  },
  take(turn, answer) {
    if (answer.type !== "composed") return done(turn);
    const { tokens, promptBudget, verdict } = sizeOfRequest(turn, answer, { ofEngine: false });
    const isDue = verdict === "over" || (verdict === "full" && !turn.recovery.highMarkIsVain);
    if (!isDue) return done(turn);
    return doneThen(
      {
        ...turn,
        recovery: { ...turn.recovery, autoCompacted: true },
        compaction: {
          by: "built-in",
          before: turn.session,
          outcome: null,
          request: {
            trigger: "threshold",
            target: "threshold",
            tokenBudget: promptBudget,
            currentTokenCount: tokens,
          },
        },
      },
      ["compact", "weigh"],
    );
  },
};
