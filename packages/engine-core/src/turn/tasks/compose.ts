// Puts the next request together and decides whether it may be sent.
import { type Precheck, planPrecheck } from "../../request/precheck.ts";
import type { Answer } from "../facts.ts";
import { ask, done, failed, failure, type Task } from "../step.ts";
import type { RecoveryState, Turn } from "../turn.ts";

export const compose: Task = {
  begin(turn) {
    const { view, assembly, history, prompt, additions } = turn;
    return ask(turn, {
      do: "compose",
      items: view?.items ?? assembly?.items ?? history,
      addTurn: view?.withTurn !== true,
      promptId: prompt?.id,
      additions,
      unwindowed: assembly?.promptAuthority === "preassembly_may_overflow" ? history : null,
      engineEstimate: assembly?.engineEstimate ?? null,
    });
  },
  take(turn, answer) {
    if (answer.type !== "composed") return done(turn);
    const { items, lastPromptTokens, size } = answer;
    const composed = { items, lastPromptTokens, measured: size.measured !== null };
    const ready = { ...turn, composed };
    const held = holdBack(ready, answer);
    if (held === undefined) return done(ready);
    const message = "Context overflow: prompt too large for the model (precheck).";
    return failed(ready, { ...failure("overflow", message), precheck: held });
  },
};

/** What was left out of a view is a reason to compact once; after that the view is judged. */
const mayStillShrink = ({ overflowAttempts, engineCannot }: RecoveryState) =>
  overflowAttempts === 0 && !engineCannot;

/**
 * A request that cannot fit is not sent (contract §3.4); undefined = send it. What an owner chose
 * is judged by what the model can take, since nobody else can make it smaller.
 */
function holdBack(turn: Turn, answer: Extract<Answer, { type: "composed" }>): Precheck | undefined {
  const { setup, engine, recovery, assembly, freshAssembly } = turn;
  const owner = engine.ownsCompaction;
  const checked = freshAssembly || owner || setup.settings.midTurnPrecheck;
  if (!checked || recovery.providerDecides) return undefined;
  const precheck = planPrecheck({
    promptBudget: owner ? setup.model.contextWindow : setup.budget.promptBudget,
    assembled: answer.size,
    engineEstimate: assembly?.engineEstimate ?? null,
    ...(answer.unwindowed !== null &&
      mayStillShrink(recovery) && { unwindowed: answer.unwindowed }),
    fixedTokens: setup.fixedTokens,
    tokenRatio: setup.settings.tokenRatio,
    reducibleChars: () => answer.reducibleChars,
  });
  return precheck.route === "fits" ? undefined : precheck;
}
