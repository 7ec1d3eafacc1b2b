// Remembers the ids of what is settled, and tells whether a later message speaks of them.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import type { CallForms } from "./call-forms.ts";
import { isEmbeddedResult } from "./passes/contract-shape.ts";
import { itemId } from "./passes/responses.ts";
import { isBefore } from "./passes/thinking.ts";
import {
  callId,
  hasFailed,
  isThinking,
  isToolCall,
  isToolCallLike,
  nonBlank,
  resultId,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
} from "./stored.ts";
import type { WireRules } from "./wires.ts";

/** What the settled part of a history left behind, by which later messages are judged. */
export interface SettledIds {
  profile: WireRules;
  /** The settled messages themselves, as they are stored. */
  input: readonly AgentMessage[];
  /** Ids that calls and items have there, before and after. */
  ids: Set<string>;
  formsOf: CallForms;
  /** The same of its calls, by which later ones get theirs; null = a call there was left out. */
  idsBefore: { uses: Map<string, number>; taken: Set<string> } | null;
  compactedAt: number | undefined;
}

/**
 * A call that was left out was not counted either, and an id that the wire refuses may have been
 * given twice: then nothing is known of what it left.
 */
export function noteCalls(
  settled: SettledIds,
  chunk: readonly StoredMessage[],
  messages: readonly StoredMessage[],
): void {
  const { idsBefore } = settled;
  if (idsBefore === null) return;
  const [given, sent] = [callsIn(chunk), callsIn(messages)];
  const isSure =
    given.length === sent.length &&
    given.every((block) => isPlain(block) && settled.profile.ids.test(callId(block)));
  if (!isSure) {
    settled.idsBefore = null;
    return;
  }
  for (const block of given)
    idsBefore.uses.set(callId(block), (idsBefore.uses.get(callId(block)) ?? 0) + 1);
  for (const block of sent) idsBefore.taken.add(callId(block));
}

/**
 * True when a message names a call or an item of the settled part, or is a summary behind it, or
 * has thinking that is older than one before it.
 */
export function touches(settled: SettledIds, messages: readonly StoredMessage[]): boolean {
  const { ids, formsOf, compactedAt, input } = settled;
  const isAllocated = settled.idsBefore !== null && messages.every(hasPlainCalls);
  const waiting = new Map<string, number>();
  for (const message of messages) {
    if (isOlder(message, compactedAt)) return true;
    if (roleOf(message) === "compactionSummary" && input.length > 0) return true;
    if (input.length > 0 && embeddedResults(message).some((each) => resultId(each) === undefined))
      return true;
    for (const block of callsIn([message]))
      waiting.set(callId(block).trim(), (waiting.get(callId(block).trim()) ?? 0) + 1);
    if (roleOf(message) !== "toolResult") continue;
    const id = resultId(message);
    // One without an id belongs to the call before it, whichever that is.
    if (id === undefined && input.length > 0) return true;
    const left = id === undefined ? 0 : (waiting.get(id) ?? 0);
    if (id !== undefined && left > 0) waiting.set(id, left - 1);
    // The call that waits is the nearest one, though an earlier one had its id.
    if (left > 0 && isAllocated) continue;
    if (id !== undefined && formsOf(id).some((form) => ids.has(form))) return true;
  }
  const own = isAllocated ? messages.filter((message) => !isOfCalls(message)) : messages;
  for (const id of idsOf(own)) if (ids.has(id)) return true;
  return false;
}

/** True: no call of it is left out, so that each result is that of the call before it. */
const hasPlainCalls = (message: StoredMessage): boolean => {
  const calls = callsIn([message]);
  return calls.length === 0 || (!hasFailed(message) && calls.every(isPlain));
};

const isPlain = (block: StoredBlock): boolean =>
  isToolCall(block) &&
  nonBlank(block.id) === block.id &&
  nonBlank(block.name) === block.name &&
  isRecord(block.arguments);

/** A call, or the result of one, whose id the allocation of ids looks after. */
const isOfCalls = (message: StoredMessage): boolean =>
  roleOf(message) === "toolResult" || roleOf(message) === "assistant";

export function* idsOf(messages: readonly StoredMessage[]): Generator<string> {
  for (const message of messages) {
    if (roleOf(message) === "toolResult") yield resultId(message) ?? "";
    for (const each of embeddedResults(message)) yield resultId(each) ?? "";
    if (roleOf(message) !== "assistant") continue;
    for (const block of storedBlocks(message)) {
      const item = itemId(block);
      if (item !== undefined) yield item;
      if (!isToolCallLike(block)) continue;
      for (const part of callId(block).split("|")) yield part.trim();
      yield callId(block).trim();
    }
  }
}

/** Results inside a message of another role, as older hosts stored them. */
const embeddedResults = (message: StoredMessage): readonly StoredBlock[] =>
  roleOf(message) === "assistant" ? [] : storedBlocks(message).filter(isEmbeddedResult);

/** True for a message with thinking, which a summary of a later time takes the proof of. */
export const isOlder = (
  message: StoredMessage | undefined,
  compactedAt: number | undefined,
): boolean =>
  isRecord(message) && isBefore(message, compactedAt) && storedBlocks(message).some(isThinking);

export const callsIn = (messages: readonly StoredMessage[]): StoredBlock[] =>
  messages
    .filter((message) => roleOf(message) === "assistant")
    .flatMap((message) => storedBlocks(message).filter(isToolCallLike));
