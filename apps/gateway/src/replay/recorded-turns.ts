// Splits a recorded transcript into turns to be run again.
import {
  type AgentMessage,
  type AssistantMessage,
  messageId,
  type ToolResultMessage,
  type UserMessage,
} from "@clew/plugin-sdk/core";
import { isUserTurn, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { originOf } from "../sessions/origin.ts";

/** One recorded model call. */
export interface RecordedStep {
  /**
   * Messages recorded before this reply that no model call makes: shell commands,
   * failed replies, stray results.
   */
  before: AgentMessage[];
  reply: AssistantMessage;
  /** The entry that first held it. Absent: it is in no transcript. */
  replyEntryId?: string;
  /** Results of the reply's tool calls, in their order. */
  results: ToolResultMessage[];
}

export interface RecordedTurn {
  /** Null: what stood before the first message of a person. */
  prompt: UserMessage | null;
  /** The entry that holds the prompt. Absent: there is none, or it is in no transcript. */
  promptEntryId?: string;
  steps: RecordedStep[];
  /** Messages after the last reply that no model call makes. */
  after: AgentMessage[];
}

/**
 * Pure. `branch` is the active branch; compactions in it are ignored, because the
 * engine decides those again.
 */
export function planRecordedTurns(branch: readonly TranscriptEntry[]): RecordedTurn[] {
  const turns: RecordedTurn[] = [];
  for (const entry of branch) {
    if (entry.type !== "message") continue;
    const message = unstored(entry.message);
    if (isUserTurn(message)) {
      const prompt = message as UserMessage;
      turns.push({ prompt, promptEntryId: entry.id, steps: [], after: [] });
    } else {
      if (turns.length === 0) turns.push({ prompt: null, steps: [], after: [] });
      addMessage(turns.at(-1)!, message, originOf(entry));
    }
  }
  return turns.map(settleTurn);
}

/** Said anew it is another message: its new entry may not claim the id of a third. */
function unstored(message: AgentMessage): AgentMessage {
  if (messageId(message) === undefined) return message;
  const { __openclaw: stored, ...said } = message;
  const { id: _id, ...rest } = stored!;
  return { ...said, ...(Object.keys(rest).length > 0 && { __openclaw: rest }) } as AgentMessage;
}

function addMessage(turn: RecordedTurn, message: AgentMessage, entryId: string): void {
  const step = turn.steps.at(-1);
  if (message.role === "assistant") {
    const before = turn.after.splice(0);
    turn.steps.push({ before, reply: message, replyEntryId: entryId, results: [] });
  } else if (
    message.role === "toolResult" &&
    step !== undefined &&
    turn.after.length === 0 &&
    openCalls(step).includes(message.toolCallId)
  ) {
    step.results.push(message);
  } else turn.after.push(message);
}

/** Ids of the calls of a step that have no result yet; an id that occurs twice needs two. */
function openCalls({ reply, results }: RecordedStep): string[] {
  const open = toolCallIds(reply);
  for (const { toolCallId } of results) open.splice(open.indexOf(toolCallId), 1);
  return open;
}

export function toolCallIds(reply: AssistantMessage): string[] {
  return Array.isArray(reply.content)
    ? reply.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []))
    : [];
}

/**
 * A failed reply that was followed by another one was retried: it is not a step of its own
 * but stands before the next.
 */
function settleTurn(turn: RecordedTurn): RecordedTurn {
  const steps: RecordedStep[] = [];
  let before: AgentMessage[] = [];
  for (const [index, step] of turn.steps.entries()) {
    const wasRetried = hasFailed(step.reply) && index < turn.steps.length - 1;
    if (wasRetried) before = [...before, ...step.before, step.reply, ...step.results];
    else {
      steps.push({ ...step, before: [...before, ...step.before], reply: withStopReason(step) });
      before = [];
    }
  }
  return { ...turn, steps };
}

export function hasFailed({ stopReason }: AssistantMessage): boolean {
  return stopReason === "error" || stopReason === "aborted";
}

/** A reply whose calls were answered was one that asked for tools, whatever the recorder wrote. */
function withStopReason({ reply, results }: RecordedStep): AssistantMessage {
  return results.length > 0 && !hasFailed(reply) && reply.stopReason !== "toolUse"
    ? { ...reply, stopReason: "toolUse" }
    : reply;
}
