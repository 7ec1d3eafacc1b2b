// Puts the next request together and decides whether it may be sent.
import {
  type ContextSize,
  fixedTokensOf,
  planBudget,
  type ToolDefinition,
} from "@clew/plugin-sdk/host";
import type { Tell } from "../effects.ts";
import { hasCapability } from "../order.ts";
import { sizeOfRequest } from "../request-size.ts";
import { ask, done, failed, failure, type Task } from "../step.ts";
import type { RecoveryState, Turn } from "../turn.ts";

export const compose: Task = {
  begin(turn) {
    const { setup, view, assembly, history, prompt, additions, recovery } = turn;
    const mayOverflow = assembly?.promptAuthority === "preassembly_may_overflow";
    return ask(turn, {
      do: "compose",
      items: view?.items ?? assembly?.items ?? (isAssembled(setup) ? history : []),
      addTurn: view?.withTurn !== true,
      promptId: prompt?.id,
      additions,
      unwindowed: mayOverflow && mayStillShrink(recovery) ? history : null,
    });
  },
  take(asked, answer) {
    if (answer.type !== "composed") return done(asked);
    const turn = answer.tools === undefined ? asked : withTools(asked, answer.tools);
    const size = sizeOfRequest(turn, answer, { ofEngine: true });
    const { items, lastPromptTokens } = answer;
    const estimatedTokens = answer.size.counted?.after ?? answer.size.estimate;
    const composed = { ...turn, composed: { items, lastPromptTokens, estimatedTokens, size } };
    const { turn: ready, tells } = withVainMark(composed, size);
    if (size.overflow === 0 || !isChecked(ready)) return done(ready, ...tells);
    const message = "Context overflow: prompt too large for the model (precheck).";
    return failed(ready, { ...failure("overflow", message), heldBack: true }, ...tells);
  },
};

/** From this request on these are offered, and what they take is not there for messages. */
function withTools(turn: Turn, tools: readonly ToolDefinition[]): Turn {
  const { setup } = turn;
  const more = fixedTokensOf([], tools) - fixedTokensOf([], setup.tools);
  const { reserveTokens, tokenRatio } = setup.settings;
  const budget = planBudget({
    contextWindow: setup.model.contextWindow,
    fixedTokens: setup.budget.fixedTokens + more,
    ...{ reserveTokens, tokenRatio },
  });
  const fixedTokens = setup.fixedTokens + more;
  return { ...turn, setup: { ...setup, tools, fixedTokens, budget } };
}

/** Of the high mark: where a compaction leaves more, the next one would come after a few calls. */
const VAIN_SHARE = 0.75;

/**
 * What this turn must keep may take most of the room there is. To compact again above the mark
 * would cost the whole prompt at every call and free next to nothing: then only what does not fit
 * is compacted.
 */
function withVainMark(turn: Turn, { messages, water }: ContextSize): { turn: Turn; tells: Tell[] } {
  const { recovery } = turn;
  const isVain = recovery.autoCompacted && messages > VAIN_SHARE * water.high;
  if (!isVain || recovery.highMarkIsVain) return { turn, tells: [] };
  const text = `What this turn must keep takes about ${count(messages)} tokens, and the conversation is compacted above ${count(water.high)}: until the turn ends that is done only where a request would not fit.`;
  return {
    turn: { ...turn, recovery: { ...recovery, highMarkIsVain: true } },
    tells: [{ do: "emit", event: { type: "notice", text } }],
  };
}

const count = (tokens: number) => tokens.toLocaleString("en-US");

/** What was left out of a view is a reason to compact once; after that the view is judged. */
const mayStillShrink = ({ overflowAttempts, engineCannot }: RecoveryState) =>
  overflowAttempts === 0 && !engineCannot;

/** Who is told the message alone holds the rest already. */
const isAssembled = (setup: Turn["setup"]) => hasCapability(setup, "assemble-before-prompt");

/** A request that cannot fit is not sent (contract §3.4). */
const isChecked = ({ setup, engine, recovery, freshAssembly }: Turn) =>
  isAssembled(setup) &&
  !recovery.providerDecides &&
  (freshAssembly || engine.ownsCompaction || setup.settings.midTurnPrecheck);
