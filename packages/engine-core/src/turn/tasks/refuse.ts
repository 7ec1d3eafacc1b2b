// Keeps what had arrived of a reply that failed, so that the record tells what happened.
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import { ask, done, type Task } from "../step.ts";
import type { LoopFailure, Turn } from "../turn.ts";

export const refuse: Task = {
  begin(turn) {
    const { failure, setup } = turn;
    if (failure === null) return done(turn);
    const { error, partial } = failure;
    const text = error.kind === "overflow" ? overflowMessage(turn, failure) : error.message;
    const message: AssistantMessage = {
      ...partial,
      stopReason: error.kind === "aborted" ? "aborted" : "error",
      errorMessage: text,
    };
    const refused = { ...turn, error: { kind: error.kind, message: text } };
    if (setup.purpose !== "turn") return done(refused);
    return ask(refused, { do: "append", as: "refusal", entries: [{ type: "message", message }] });
  },
  take(turn, answer) {
    const entry = answer.type === "appended" ? answer.entries[0] : undefined;
    if (entry?.type !== "message") return done(turn);
    const { id: entryId, message } = entry;
    return done(turn, { do: "emit", event: { type: "message", entryId, message } });
  },
};

/** What the person is told when nothing helped (contract §3.7). */
function overflowMessage({ compactionFailure }: Turn, { heldBack }: LoopFailure): string {
  if (heldBack && compactionFailure !== null) {
    const { timedOut, reason } = compactionFailure;
    return `Auto-compaction ${timedOut ? "timed out" : "failed"} before the next model request (${reason}). Try again or run /compact.`;
  }
  return "Context overflow: prompt too large for the model. Try /reset (or /new) to start a fresh session, /compact, or a model with a larger window.";
}
