// Lets a program run the turn and stores what it does step by step.
import type { AssistantMessage, ToolCallBlock, ToolResultMessage } from "@clew/plugin-sdk/core";
import type { ExecutionAnswer, ExecutionEvent, ExecutionOutcome } from "../../execution-port.ts";
import type { Tell } from "../effects.ts";
import type { Answer } from "../facts.ts";
import { afterTheReply } from "../order.ts";
import { ask, done, doneOnly, failed, failure, type Step, type Task } from "../step.ts";
import type { LoopFailure, Turn } from "../turn.ts";
import { allowedTools, withAdditions } from "./additions.ts";

/** What the engine adds has a place of its own in the program. */
const ENGINE_PART = "engine";

export const execute: Task = {
  begin(turn) {
    const { setup, composed, assembly, additions, prompt } = turn;
    return ask(
      { ...turn, wanted: [], draft: null, executed: null },
      {
        do: "begin-execution",
        items: composed.items,
        promptId: prompt?.id,
        system: withAdditions(setup.systemPrompt, additions),
        addition: assembly?.system.find(({ id }) => id === ENGINE_PART)?.text ?? null,
        tools: allowedTools(turn),
        projection: assembly?.projection ?? null,
      },
    );
  },
  take(turn, answer) {
    switch (answer.type) {
      case "execution-begun":
        return goOn(turn, { type: "go-on" });
      case "executed":
        return happened(turn, answer);
      case "appended":
        return stored(turn, answer);
      case "tool-ran":
        return toolRan(turn, answer);
      default:
        return done(turn);
    }
  },
};

const goOn = (turn: Turn, answer: ExecutionAnswer, ...tells: Tell[]): Step =>
  ask(turn, { do: "await-execution", answer }, ...tells);

function happened(turn: Turn, { event, at }: Extract<Answer, { type: "executed" }>): Step {
  switch (event.type) {
    case "messages":
      return store(turn, event);
    case "call":
      return ask(
        { ...turn, wanted: [event.call], executed: null },
        {
          do: "append",
          as: "executed",
          entries: [{ type: "message", message: calling(turn, event.call, at) }],
        },
      );
    case "usage":
      return called(turn);
    case "native-compaction":
      return goOn(
        turn,
        { type: "go-on" },
        {
          do: "emit",
          event: {
            type: "notice",
            text: `${labelOf(turn)} compacted its own thread.`,
            about: "compaction",
          },
        },
      );
    case "notice":
      return goOn(turn, { type: "go-on" }, notice(event.text));
    case "handed-over":
      return goOn(turn, { type: "go-on" });
    case "end":
      return ended(turn, event.outcome);
  }
}

const labelOf = ({ setup }: Turn) => setup.execution?.label ?? "The program";

const notice = (text: string): Tell => ({ do: "emit", event: { type: "notice", text } });

/** A text is a reply until another one comes; a call is one with the result that follows it. */
function store(turn: Turn, { messages }: Extract<ExecutionEvent, { type: "messages" }>): Step {
  if (messages.length === 0) return goOn(turn, { type: "stored", ids: [] });
  const isText = messages.length === 1 && isReply(messages[0]!);
  return ask(turn, {
    do: "append",
    as: isText ? "reply" : "executed",
    entries: messages.map((message) => ({ type: "message", message: stamped(turn, message) })),
  });
}

const isReply = (message: AssistantMessage | ToolResultMessage): message is AssistantMessage =>
  message.role === "assistant" && !message.content.some(({ type }) => type === "toolCall");

/** Every stored message says in which run it was made, so that engines can recognise it. */
const stamped = <Message extends AssistantMessage | ToolResultMessage>(
  { setup }: Turn,
  message: Message,
): Message => ({ ...message, __openclaw: { runId: setup.turnId, ...message.__openclaw } });

const calling = (turn: Turn, call: ToolCallBlock, timestamp: number): AssistantMessage =>
  stamped(turn, {
    role: "assistant",
    content: [call],
    stopReason: "toolUse",
    provider: turn.setup.model.provider,
    model: turn.setup.model.id,
    timestamp,
  });

/** A model that never answers is stopped here too. */
function called(turn: Turn): Step {
  const { maxModelCalls } = turn.setup.settings;
  const counted = { ...turn, calls: turn.calls + 1, freshAssembly: false };
  if (counted.calls < maxModelCalls) return goOn(counted, { type: "go-on" });
  return failed(
    counted,
    failure(
      "invalid_response",
      `${labelOf(turn)} called its model ${maxModelCalls} times without an end; the turn was stopped.`,
    ),
  );
}

function stored(turn: Turn, { as, entries }: Extract<Answer, { type: "appended" }>): Step {
  const tells = entries.flatMap((entry): Tell[] =>
    entry.type === "message"
      ? [
          ...toolTells(entry.message as AssistantMessage | ToolResultMessage),
          {
            do: "emit",
            event: { type: "message", entryId: entry.id, message: entry.message },
          },
        ]
      : [],
  );
  const ids = entries.map(({ id }) => id);
  const [call] = turn.wanted;
  if (call !== undefined && turn.executed === null)
    return ask(
      { ...turn, executed: { outcome: NOT_RUN, ids } },
      { do: "run-tool", call },
      ...tells,
    );
  if (call !== undefined && turn.executed !== null) {
    const answer = {
      type: "called" as const,
      ...turn.executed,
      ids: [...turn.executed.ids, ...ids],
    };
    return goOn({ ...turn, wanted: [], executed: null }, answer, ...tells);
  }
  const last = entries.at(-1);
  const reply = as === "reply" && last?.type === "message" ? last.message : undefined;
  return goOn(
    reply?.role === "assistant" ? { ...turn, draft: reply } : turn,
    { type: "stored", ids },
    ...tells,
  );
}

const NOT_RUN = { content: [], isError: true };

/** What a person who watches sees of tools, whoever ran them. */
function toolTells(message: AssistantMessage | ToolResultMessage): Tell[] {
  if (message.role === "toolResult") {
    const { toolCallId: callId, toolName: name, isError } = message;
    return [{ do: "emit", event: { type: "tool_end", callId, name, isError } }];
  }
  if (message.role !== "assistant") return [];
  return message.content.flatMap((block): Tell[] =>
    block.type === "toolCall" ? [{ do: "emit", event: { type: "tool_start", call: block } }] : [],
  );
}

function toolRan(turn: Turn, { outcome, at }: Extract<Answer, { type: "tool-ran" }>): Step {
  const [call] = turn.wanted;
  if (call === undefined) return done(turn);
  const { note: _note, ...result } = outcome;
  const message: ToolResultMessage = {
    ...{ role: "toolResult", toolCallId: call.id, toolName: call.name },
    ...result,
    timestamp: at,
  };
  return ask(
    { ...turn, executed: { outcome, ids: turn.executed?.ids ?? [] } },
    { do: "append", as: "tool-result", entries: [{ type: "message", message }] },
  );
}

function ended(turn: Turn, outcome: ExecutionOutcome): Step {
  switch (outcome.status) {
    case "completed":
      return turn.draft === null
        ? failed(
            turn,
            failure("invalid_response", `${labelOf(turn)} ended the turn without a reply.`),
          )
        : doneOnly({ ...turn, reply: turn.draft }, afterTheReply(turn.setup));
    case "interrupted":
      return failed(turn, failure("aborted", "The run was cancelled."));
    case "failed":
      return failed(turn, failureOf(outcome));
  }
}

const failureOf = ({
  error,
  code,
}: Extract<ExecutionOutcome, { status: "failed" }>): LoopFailure => ({
  error,
  ...(code !== undefined && { code }),
  partial: {
    role: "assistant",
    content: [],
    stopReason: error.kind === "aborted" ? "aborted" : "error",
    errorMessage: error.message,
  },
});
