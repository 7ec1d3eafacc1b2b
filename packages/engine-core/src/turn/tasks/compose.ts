// Puts the next request together and decides whether it may be sent.
import { sizeOfRequest } from "../request-size.ts";
import { ask, done, failed, failure, type Task } from "../step.ts";
import type { RecoveryState, Turn } from "../turn.ts";

export const compose: Task = {
  begin(turn) {
    const { view, assembly, history, prompt, additions, recovery } = turn;
    const mayOverflow = assembly?.promptAuthority === "preassembly_may_overflow";
    return ask(turn, {
      do: "compose",
      items: view?.items ?? assembly?.items ?? history,
      addTurn: view?.withTurn !== true,
      promptId: prompt?.id,
      additions,
      unwindowed: mayOverflow && mayStillShrink(recovery) ? history : null,
    });
  },
  take(turn, answer) {
    if (answer.type !== "composed") return done(turn);
    const size = sizeOfRequest(turn, answer, { ofEngine: true });
    const { items, lastPromptTokens } = answer;
    const ready = { ...turn, composed: { items, lastPromptTokens, size } };
    if (size.overflow === 0 || !isChecked(ready)) return done(ready);
    const message = "Context overflow: prompt too large for the model (precheck).";
    return failed(ready, { ...failure("overflow", message), heldBack: true });
  },
};

/** What was left out of a view is a reason to compact once; after that the view is judged. */
const mayStillShrink = ({ overflowAttempts, engineCannot }: RecoveryState) =>
  overflowAttempts === 0 && !engineCannot;

/** A request that cannot fit is not sent (contract §3.4). */
const isChecked = ({ setup, engine, recovery, freshAssembly }: Turn) =>
  !recovery.providerDecides &&
  (freshAssembly || engine.ownsCompaction || setup.settings.midTurnPrecheck);
