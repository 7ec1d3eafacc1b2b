// Decides which ids tool calls and their results carry.
import { sha256Hex } from "../hash.ts";
import { definePass, mapChanged, type Report } from "../pass.ts";
import type { ToolCallIdMode } from "../policies.ts";
import {
  callId,
  isThinking,
  isToolCall,
  nonBlank,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
} from "../stored.ts";
import { type IdsBefore, type Taken, takenBehind } from "./ids-before.ts";

/** Which form ids get, and which of them stay. */
export interface ToolIdOptions {
  /** What a legal id looks like. */
  mode: ToolCallIdMode;
  /** True: the first use of a `toolu_*` id stays. */
  preserveNativeToolUseIds?: boolean;
  /** True: turns with thinking keep their ids as they are, and nobody else may take them. */
  keepThinkingTurns?: boolean;
  /** True: only what stands before an id decides it. Default: kept ids are reserved first. */
  inOrder?: boolean;
  /** Calls before the first message. Default: none. */
  before?: IdsBefore;
  /** "openai": the first use of a `call_*` id stays and repeats become fresh ones. */
  duplicateStyle?: "openai";
}

const NATIVE_TOOL_USE = /^toolu_[A-Za-z0-9_]+$/;
const NATIVE_KIMI = /^functions\.[^:]+:\d+$/;
const MAX_STRICT = 40;

// Ids a result may carry, in the order they are believed; all that are present are rewritten.
const RESULT_FIELDS = [
  "call_id",
  "callId",
  "tool_call_id",
  "tool_use_id",
  "toolCallId",
  "toolUseId",
];

/** One id in the form a provider accepts, whatever else is in the transcript (rule R7). */
export function sanitizeToolCallId(id: string, mode: ToolCallIdMode): string {
  if (mode === "strict9") return nine(id);
  if (!id) return "defaulttoolid";
  if (NATIVE_KIMI.test(id)) return id;
  return alphanumerics(id).slice(0, MAX_STRICT) || "sanitizedtoolid";
}

function nine(id: string): string {
  if (!id) return "defaultid";
  const clean = alphanumerics(id);
  return clean.length >= 9 ? clean.slice(0, 9) : sha256Hex(clean || "sanitized").slice(0, 9);
}

const alphanumerics = (id: string): string => id.replace(/[^A-Za-z0-9]/g, "");

/**
 * Gives every call an id that is legal and unique, and every result the id of its call, in order of
 * occurrence (rule R7).
 */
export const sanitizeToolCallIds = definePass<ToolIdOptions>(
  "tool-call-ids",
  (messages, options, report) =>
    options.inOrder === true
      ? renameCalls(messages, allocatorInOrder(messages, options), report, {
          before: options.before,
        })
      : renameCalls(messages, createAllocator(options, reservedIds(messages, options)), report, {
          isKept: (message) => isVerbatim(message, options),
        }),
  ({ hasTools }) => hasTools,
);

/**
 * Answers with the id for the nth use of a raw id, by a call block or, without one, by a result
 * nobody waits for.
 * @internal
 */
export type Allocate = (id: string, use: number, call?: StoredBlock) => string;

/**
 * Renames every call by `allocate`, and each result as its call; a result nobody waits for is
 * allocated as one of its own.
 * @internal
 */
export function renameCalls(
  messages: readonly StoredMessage[],
  allocate: Allocate,
  report: Report,
  {
    isKept = () => false,
    before,
  }: {
    isKept?: (message: StoredMessage) => boolean;
    before?: IdsBefore | undefined;
  } = {},
): readonly StoredMessage[] {
  const uses = new Map<string, number>();
  const waiting = new Map<string, { ids: string[]; next: number }>();
  const orphans = new Map<string, number>();
  const rename = (block: StoredBlock, keeps: boolean): StoredBlock => {
    if (!isToolCall(block)) return block;
    const id = callId(block);
    const use = (uses.get(id) ?? before?.uses.get(id) ?? 0) + 1;
    uses.set(id, use);
    const renamed = keeps ? id : allocate(id, use, block);
    const queue = waiting.get(id.trim());
    if (queue === undefined) waiting.set(id.trim(), { ids: [renamed], next: 0 });
    else queue.ids.push(renamed);
    return renamed === id ? block : { ...block, id: renamed };
  };
  return mapChanged(messages, (message, index) => {
    const role = roleOf(message);
    if (role === "assistant") {
      const blocks = storedBlocks(message);
      const keeps = isKept(message);
      const renamed = mapChanged(blocks, (block) => rename(block, keeps));
      if (renamed === blocks) return message;
      report("changed", index, "a tool call id the provider does not accept");
      return { ...message, content: renamed };
    }
    if (role !== "toolResult") return message;
    const id = RESULT_FIELDS.map((field) => nonBlank(message[field])).find(
      (value) => value !== undefined,
    );
    if (id === undefined) return message;
    const queue = waiting.get(id);
    const renamed = queue?.ids[queue.next++] ?? allocate(id, countUp(orphans, id));
    const result = withResultId(message, renamed);
    if (result !== message) report("changed", index, "a tool result whose call has another id now");
    return result;
  });
}

/**
 * The result with this id in every id field it has, and in `toolCallId`.
 * @internal
 */
export function withResultId(result: StoredMessage, id: string): StoredMessage {
  const fields = RESULT_FIELDS.filter((field) => typeof result[field] === "string");
  if (result.toolCallId === id && fields.every((field) => result[field] === id)) return result;
  return { ...result, ...Object.fromEntries(fields.map((field) => [field, id])), toolCallId: id };
}

function countUp(counts: Map<string, number>, key: string): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}

const isVerbatim = (
  message: StoredMessage,
  { keepThinkingTurns = false }: ToolIdOptions,
): boolean => keepThinkingTurns && storedBlocks(message).some(isThinking);

function reservedIds(messages: readonly StoredMessage[], options: ToolIdOptions): Set<string> {
  const kept = messages.filter(
    (message) => roleOf(message) === "assistant" && isVerbatim(message, options),
  );
  return new Set(kept.flatMap((message) => storedBlocks(message).filter(isToolCall).map(callId)));
}

function createAllocator(options: ToolIdOptions, taken: Taken): Allocate {
  const take = (id: string) => {
    taken.add(id);
    return id;
  };
  return (id, use, call) => {
    if (call === undefined) return take(uniqueId(`${id}:tool_result:${use}`, options.mode, taken));
    const seed = use === 1 ? id : `${id}:${use}`;
    if (keepsNative(id, use, options, taken)) return take(id);
    const isRepeat = options.duplicateStyle === "openai" && id.startsWith("call_") && use > 1;
    return take(isRepeat ? openaiRepeat(id, use, taken) : uniqueId(seed, options.mode, taken));
  };
}

/** A turn with thinking keeps an id that nobody before it has taken. */
function allocatorInOrder(messages: readonly StoredMessage[], options: ToolIdOptions): Allocate {
  const verbatim = new WeakSet<StoredBlock>();
  for (const message of messages)
    if (roleOf(message) === "assistant" && isVerbatim(message, options))
      for (const block of storedBlocks(message)) if (isToolCall(block)) verbatim.add(block);
  const taken = takenBehind(options.before?.taken);
  const allocate = createAllocator(options, taken);
  return (id, use, call) => {
    if (call === undefined || !verbatim.has(call) || taken.has(id)) return allocate(id, use, call);
    taken.add(id);
    return id;
  };
}

function keepsNative(
  id: string,
  use: number,
  { preserveNativeToolUseIds = false, duplicateStyle }: ToolIdOptions,
  taken: Pick<Taken, "has">,
): boolean {
  if (use !== 1 || taken.has(id)) return false;
  return (
    (preserveNativeToolUseIds && NATIVE_TOOL_USE.test(id)) ||
    (duplicateStyle === "openai" && id.startsWith("call_"))
  );
}

function openaiRepeat(id: string, use: number, taken: Pick<Taken, "has">): string {
  for (let attempt = 0; ; attempt++) {
    const candidate = `call_${sha256Hex(`${id}:${use}:${attempt}`).slice(0, 24)}`;
    if (!taken.has(candidate)) return candidate;
  }
}

/**
 * The id for a seed, out of the way of those taken: sanitised, else with a hash, else with a count.
 * @internal
 */
export function uniqueId(seed: string, mode: ToolCallIdMode, taken: Pick<Taken, "has">): string {
  const base = sanitizeToolCallId(seed, mode);
  if (!taken.has(base)) return base;
  const hashed = hashedId(seed, mode);
  if (!taken.has(hashed)) return hashed;
  if (mode === "strict9") {
    for (let attempt = 1; ; attempt++) {
      const candidate = hashedNine(seed, attempt);
      if (!taken.has(candidate)) return candidate;
    }
  }
  for (let count = 2; ; count++) {
    const suffix = `x${count}`;
    const candidate = `${hashed.slice(0, MAX_STRICT - suffix.length)}${suffix}`;
    if (!taken.has(candidate)) return candidate;
  }
}

/**
 * What a legal id becomes for a seed whose sanitised form is taken.
 * @internal
 */
export function hashedId(seed: string, mode: ToolCallIdMode): string {
  if (mode === "strict9") return hashedNine(seed, 0);
  const base = sanitizeToolCallId(seed, mode);
  return `${base.slice(0, MAX_STRICT - 8)}${sha256Hex(seed).slice(0, 8)}`;
}

const hashedNine = (seed: string, attempt: number): string =>
  sha256Hex(`${seed}:${attempt}`).slice(0, 9);
