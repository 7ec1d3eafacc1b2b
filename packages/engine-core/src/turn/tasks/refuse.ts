// Keeps why there is no reply, and what had arrived of it, so that the record tells.
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import { type ContextSize, type ModelRef, planContextSize } from "@clew/plugin-sdk/host";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import type { Ask } from "../effects.ts";
import { ask, done, type Task } from "../step.ts";
import type { LoopFailure, Turn } from "../turn.ts";

export const refuse: Task = {
  begin(turn) {
    const { failure, setup } = turn;
    if (turn.error !== null && failure === null)
      return setup.purpose === "turn"
        ? ask(turn, refusal(NOTHING_ARRIVED, turn.error.message))
        : done(turn);
    if (failure === null) return done(turn);
    const { error, partial } = failure;
    const text = error.kind === "overflow" ? overflowMessage(turn, failure) : error.message;
    const stopReason = error.kind === "aborted" ? "aborted" : "error";
    const code = failure.code === undefined ? {} : { code: failure.code };
    const refused = { ...turn, error: { kind: error.kind, ...code, message: text } };
    if (setup.purpose !== "turn") return done(refused);
    return ask(refused, refusal({ ...partial, stopReason }, text));
  },
  take(turn, answer) {
    const entry = answer.type === "appended" ? answer.entries[0] : undefined;
    if (entry?.type !== "message") return done(turn);
    const { id: entryId, message } = entry;
    return done(turn, { do: "emit", event: { type: "message", entryId, message } });
  },
};

const NOTHING_ARRIVED: AssistantMessage = { role: "assistant", content: [], stopReason: "error" };

const refusal = (arrived: AssistantMessage, errorMessage: string): Ask => ({
  ...{ do: "append", as: "refusal" },
  entries: [{ type: "message", message: { ...arrived, errorMessage } }],
});

/** What the person is told when nothing helped (contract §3.7). */
function overflowMessage(turn: Turn, { heldBack, error, sent, partial }: LoopFailure): string {
  const { compactionFailure } = turn;
  const alone = planAlone(turn);
  if (alone.overflow > 0)
    return `Context overflow: your message has about ${count(alone.messages)} tokens, and with ${count(alone.fixed)} for system prompt and tools the model takes at most ${count(alone.promptBudget)} (window ${count(alone.contextWindow)}${windowText(turn.setup.model)}). No compaction helps: send less at once, or choose a model with a larger window.`;
  const taken = error.kind === "overflow" && sent?.shown && partial.usage && error.observedTokens;
  if (taken)
    return `Context overflow: the model answered, but its provider counted ${count(taken)} tokens for a window of ${count(turn.setup.model.contextWindow)}, so that the reply cannot be trusted. Ask again: the conversation is compacted before your next message is answered.`;
  if (heldBack && compactionFailure !== null) {
    const { timedOut, reason } = compactionFailure;
    return `Auto-compaction ${timedOut ? "timed out" : "failed"} before the next model request (${reason}). Try again or run /compact.`;
  }
  return "Context overflow: prompt too large for the model. Try /reset (or /new) to start a fresh session, /compact, or a model with a larger window.";
}

const windowText = ({ windowSetting }: ModelRef): string =>
  windowSetting === undefined ? "" : `, as nothing says it: set ${windowSetting} if it is larger`;

/** The person's message without any history. */
function planAlone({ setup }: Turn): ContextSize {
  const { model, settings, fixedTokens, prompt } = setup;
  const { estimate } = estimateMessage({ role: "user", content: prompt.content });
  return planContextSize({
    contextWindow: model.contextWindow,
    reserveTokens: settings.reserveTokens,
    tokenRatio: settings.tokenRatio,
    fixedTokens,
    messages: { estimate, counted: null },
  });
}

const count = (tokens: number) => tokens.toLocaleString("en-US");
