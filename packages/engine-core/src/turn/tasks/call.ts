// Asks the model, and stores its reply.
import type { AssistantMessage, ToolCallBlock } from "@clew/plugin-sdk/core";
import { remedyEntry } from "../../recovery/remedy.ts";
import type { Tell } from "../effects.ts";
import type { Answer } from "../facts.ts";
import { afterTheReply, TO_THE_NEXT_CALL } from "../order.ts";
import { replyNotice } from "../reply-notice.ts";
import { ask, done, doneOnly, failed, failure, type Step, type Task } from "../step.ts";
import type { Turn } from "../turn.ts";
import { allowedTools, withAdditions } from "./additions.ts";
import { settleRemedy } from "./remedy.ts";

export const call: Task = {
  begin(turn) {
    const { setup, calls, composed, assembly, additions, refusedRequest: refused, remedies } = turn;
    if (calls >= setup.settings.maxModelCalls)
      return failed(
        turn,
        failure(
          "invalid_response",
          `The model asked for tools ${setup.settings.maxModelCalls} times without answering; the turn was stopped.`,
        ),
      );
    return ask(turn, {
      do: "call-model",
      items: composed.items,
      size: composed.size,
      system: withAdditions(assembly?.system ?? setup.systemPrompt, additions),
      tools: allowedTools(turn),
      remedies,
      refused,
    });
  },
  take(turn, answer) {
    switch (answer.type) {
      case "answered":
        return answered(turn, answer);
      case "appended":
        return stored(turn, answer);
      default:
        return done(turn);
    }
  },
};

function answered(asked: Turn, answer: Extract<Answer, { type: "answered" }>): Step {
  const { turn, tell } = settleRemedy(asked, answer.call !== null);
  const { outcome } = answer;
  if (!outcome.ok) return unanswered(turn, answer, tell);
  return ask(
    { ...answeredTurn(turn), reply: null, wanted: toolCallsOf(outcome.message) },
    {
      do: "append",
      as: "reply",
      entries: [{ type: "message", message: outcome.message }, ...turn.helped.map(remedyEntry)],
    },
    ...tell,
  );
}

const answeredTurn = (turn: Turn): Turn => ({
  ...turn,
  calls: turn.calls + 1,
  freshAssembly: false,
  helped: [],
  recovery: {
    ...turn.recovery,
    overflowAttempts: 0,
    cut: false,
    autoCompacted: false,
    providerDecides: false,
    compactedFor: null,
    remedies: [],
  },
});

function unanswered(
  turn: Turn,
  { call: report, outcome, requestHash: hash, at, shown }: Extract<Answer, { type: "answered" }>,
  tell: readonly Tell[],
): Step {
  if (outcome.ok) return done(turn);
  const { error, partial } = outcome;
  return failed(
    {
      ...turn,
      calls: turn.calls + (report === null ? 0 : 1),
      refusedRequest: error.kind === "overflow" ? { hash, error } : turn.refusedRequest,
    },
    { error, partial, sent: { hash, at, shown } },
    ...tell,
  );
}

function stored(turn: Turn, { entries }: Extract<Answer, { type: "appended" }>): Step {
  const entry = entries[0]!;
  if (entry.type !== "message" || entry.message.role !== "assistant") return done(turn);
  const tell = {
    do: "emit" as const,
    event: { type: "message" as const, entryId: entry.id, message: entry.message },
  };
  if (turn.wanted.length > 0) return doneOnly(turn, TO_THE_NEXT_CALL, tell);
  const text = replyNotice(entry.message, turn.setup.model);
  const odd =
    text === undefined ? [] : [{ do: "emit" as const, event: { type: "notice" as const, text } }];
  return doneOnly({ ...turn, reply: entry.message }, afterTheReply(turn.setup), tell, ...odd);
}

/**
 * Calls of a reply that was cut at its token limit are not run: their arguments may be incomplete.
 */
function toolCallsOf(message: AssistantMessage): ToolCallBlock[] {
  if (message.stopReason !== "toolUse") return [];
  return message.content.filter((block) => block.type === "toolCall");
}
