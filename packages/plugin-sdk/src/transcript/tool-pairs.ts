// Which tool result answers which call, and where a cut keeps them together.
import type { AgentMessage } from "../contract/message.ts";
import { blocksOf, stringOf } from "../messages/blocks.ts";
import { type Steps, stepsAtOnce } from "../slices.ts";
import type { MessageRange } from "./turns.ts";

/** One tool call as it occurs in a list of messages. */
export interface ToolCallPlace {
  /** As stored; "" when it is missing. */
  id: string;
  /** As stored; "" when it is missing. */
  name: string;
  /** Index of the assistant message. */
  message: number;
  /** Position among that message's blocks. */
  block: number;
}

/** A call and the result that answers it. */
export interface ToolPair {
  /** Where the call stands. */
  call: ToolCallPlace;
  /** Index of the toolResult message. */
  result: number;
}

/** Every call and every result of a list, paired or left over. */
export interface ToolPairing {
  /** In the order of their results. */
  pairs: ToolPair[];
  /** Calls that no result answers, in order. */
  unanswered: ToolCallPlace[];
  /** Indexes of results that answer no call. */
  orphanResults: number[];
}

/**
 * Pairs calls and results by id, per occurrence: ids may repeat in a session, so a result answers
 * the newest open call of its id that stands before it; within one message the first. A second
 * result for an answered call is an orphan.
 */
export function pairToolCalls(messages: readonly AgentMessage[]): ToolPairing {
  return stepsAtOnce(pairingSteps(messages));
}

/** Messages looked at between two steps. */
const STEP = 512;

function* pairingSteps(messages: readonly AgentMessage[]): Steps<ToolPairing> {
  const open: OpenCalls = new Map();
  const pairing: ToolPairing = { pairs: [], unanswered: [], orphanResults: [] };
  for (const [index, message] of messages.entries()) {
    if (index % STEP === 0) yield;
    if (message.role === "assistant") {
      for (const call of toolCallsOf(message, index)) hold(open, call);
    } else if (message.role === "toolResult") {
      const call = takeNewest(open, message.toolCallId);
      if (call === undefined) pairing.orphanResults.push(index);
      else pairing.pairs.push({ call, result: index });
    }
  }
  pairing.unanswered.push(
    ...[...open.values()].flat(2).sort((a, b) => a.message - b.message || a.block - b.block),
  );
  return pairing;
}

/** The tool calls of one message; `index` is its place in the list. */
export function toolCallsOf(message: AgentMessage, index: number): ToolCallPlace[] {
  if (message.role !== "assistant") return [];
  return blocksOf(message.content).flatMap((block, position) =>
    block.type === "toolCall"
      ? [{ id: stringOf(block.id), name: stringOf(block.name), message: index, block: position }]
      : [],
  );
}

/**
 * The smallest ranges that may be kept or left as a whole, in order and without gaps: a message
 * alone, or everything from a call to its last result. A range never starts with a tool result,
 * except at the start of the list.
 */
export function atomicGroups(messages: readonly AgentMessage[]): MessageRange[] {
  return stepsAtOnce(atomicGroupSteps(messages));
}

/** `atomicGroups` in steps, for a list that takes long. */
export function* atomicGroupSteps(messages: readonly AgentMessage[]): Steps<MessageRange[]> {
  const lastResult = new Map<number, number>();
  for (const { call, result } of (yield* pairingSteps(messages)).pairs)
    lastResult.set(call.message, result);
  const groups: MessageRange[] = [];
  let start = 0;
  let holdsUntil = 0;
  for (const [index, message] of messages.entries()) {
    if (index % STEP === 0) yield;
    if (index > holdsUntil && message.role !== "toolResult") {
      groups.push({ start, end: index });
      start = index;
    }
    holdsUntil = Math.max(holdsUntil, index, lastResult.get(index) ?? 0);
  }
  if (messages.length > 0) groups.push({ start, end: messages.length });
  return groups;
}

/**
 * True when the messages from `index` on can stand without the ones before: no pair is
 * parted and no result leads.
 */
export function isSafeCut(messages: readonly AgentMessage[], index: number): boolean {
  if (index <= 0 || index >= messages.length) return true;
  return atomicGroups(messages).some(({ start }) => start === index);
}

/** Unanswered calls by id: one queue per message, the newest message last. */
type OpenCalls = Map<string, ToolCallPlace[][]>;

function hold(open: OpenCalls, call: ToolCallPlace): void {
  const queues = open.get(call.id) ?? [];
  open.set(call.id, queues);
  const newest = queues.at(-1);
  if (newest?.[0]?.message === call.message) newest.push(call);
  else queues.push([call]);
}

function takeNewest(open: OpenCalls, id: string): ToolCallPlace | undefined {
  const queues = open.get(id);
  const call = queues?.at(-1)?.shift();
  if (queues?.at(-1)?.length === 0) queues.pop();
  return call;
}
