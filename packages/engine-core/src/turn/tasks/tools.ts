// Runs the tools that a reply asked for and stores one result per call.
import type { ToolResultMessage } from "@clew/plugin-sdk/core";
import type { Answer } from "../facts.ts";
import { ask, done, failed, failure, type Step, type Task } from "../step.ts";
import type { Turn } from "../turn.ts";

/**
 * One after the other. Every call gets a result entry, so that the history stays valid: after an
 * abort the rest are answered with "aborted".
 */
export const tools: Task = {
  begin: (turn) => runNext(turn),
  take(turn, answer) {
    switch (answer.type) {
      case "tool-ran":
        return store(turn, answer);
      case "appended":
        return runNext({ ...turn, wanted: turn.wanted.slice(1) }, answer);
      default:
        return done(turn);
    }
  },
};

function runNext(turn: Turn, before?: Extract<Answer, { type: "appended" }>): Step {
  const [call] = turn.wanted;
  const tells = before === undefined ? [] : toldOf(before);
  if (call !== undefined)
    return ask(turn, { do: "run-tool", call }, ...tells, {
      do: "emit",
      event: { type: "tool_start", call },
    });
  if (!turn.toolsAborted) return done(turn, ...tells);
  const step = failed(turn, failure("aborted", "The run was cancelled while tools ran."));
  return { ...step, effects: [...tells, ...step.effects] };
}

function store(turn: Turn, { outcome, aborted, at }: Extract<Answer, { type: "tool-ran" }>): Step {
  const [call] = turn.wanted;
  if (call === undefined) return done(turn);
  const { note: _note, ...result } = outcome;
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    ...result,
    timestamp: at,
  };
  return ask(
    { ...turn, toolsAborted: turn.toolsAborted || aborted },
    { do: "append", as: "tool-result", entries: [{ type: "message", message }] },
  );
}

function toldOf({ entries }: Extract<Answer, { type: "appended" }>) {
  const entry = entries[0]!;
  if (entry.type !== "message" || entry.message.role !== "toolResult") return [];
  const { message } = entry;
  const { toolCallId: callId, toolName: name, isError } = message;
  return [
    { do: "emit" as const, event: { type: "tool_end" as const, callId, name, isError } },
    { do: "emit" as const, event: { type: "message" as const, entryId: entry.id, message } },
  ];
}
