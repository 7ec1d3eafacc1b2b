// Compacts at the threshold for engines that leave compaction to the host.
import { estimateRequest } from "../../request/precheck.ts";
import { ask, done, doneThen, type Task } from "../step.ts";

/**
 * An owner decides for itself; a host without built-in compaction, or with it switched off,
 * never does (contract §3.6). A failure is in the report; the turn goes on.
 */
export const autoCompact: Task = {
  begin(turn) {
    const { engine, setup, recovery, assembly, history, prompt } = turn;
    const may =
      !engine.ownsCompaction &&
      setup.settings.autoCompaction &&
      setup.host.compacts &&
      !recovery.autoCompacted;
    if (!may) return done(turn);
    return ask(turn, {
      do: "compose",
      items: assembly?.items ?? history,
      addTurn: true,
      promptId: prompt?.id,
      additions: null,
      unwindowed: null,
      engineEstimate: null,
    });
  },
  take(turn, answer) {
    if (answer.type !== "composed") return done(turn);
    const { fixedTokens, budget, settings } = turn.setup;
    const { promptBudget } = budget;
    const currentTokenCount = estimateRequest(answer.size, fixedTokens, null, settings.tokenRatio);
    if (currentTokenCount <= promptBudget) return done(turn);
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
            currentTokenCount,
          },
        },
      },
      ["compact", "weigh"],
    );
  },
};
