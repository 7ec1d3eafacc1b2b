// Which old tool results are cleared without a model call, and what they look like then.
import type { AgentMessage, ToolResultMessage } from "../contract/message.ts";
import { blocksOf } from "../messages/blocks.ts";
import { type Steps, stepsAtOnce } from "../slices.ts";
import { estimateMessage } from "../tokens/message.ts";
import { messageId } from "./message-id.ts";
import { pairToolCalls } from "./tool-pairs.ts";
import { isUserTurn } from "./turns.ts";

/** Constant, so that a cleared result has the same bytes in every later request. */
export const PRUNE_PLACEHOLDER = "[output pruned for context]";

/** In a placeholder it stands for the message's id, which never changes either. */
const ID_MARK = "{id}";

/** A placeholder that says how `reader`, a tool, shows what was cleared. */
export const prunePlaceholderWith = (reader: string): string =>
  `[output pruned for context; ${reader} with id "${ID_MARK}" shows it]`;

/** Their results are never cleared; configuration can only add to them. Exact names. */
export const ALWAYS_PROTECTED_TOOLS: readonly string[] = [
  "skill",
  "memory_search",
  "gandiva_recall",
];

/** What a prune spares. */
export interface PruneOptions {
  /** Tokens of newest tool results kept beyond the last two user turns. Absent: 40,000. */
  protectTokens?: number;
  /** Nothing is cleared below this many tokens. Absent: 20,000. */
  minimumTokens?: number;
  /**
   * Tools whose results are never cleared, besides skill, memory_search and gandiva_recall. Absent:
   * no others.
   */
  protectedTools?: readonly string[];
  /**
   * What a cleared result says, the message's id in place of `{id}`; the same for all sessions, or
   * caches break. Absent: PRUNE_PLACEHOLDER.
   */
  placeholder?: string;
}

/** Which results a prune clears, and what that saves. */
export interface PrunePlan {
  /** Positions of the results to clear, rising; empty = nothing is to be done. */
  clear: readonly number[];
  /** Tokens the context shrinks by: exactly the count before minus the count after. */
  freed: number;
  /** Tokens of all results beyond the protected ones, also when they are below the minimum. */
  prunable: number;
  /** How many results that is. */
  prunableCount: number;
  /** Position of the summary nothing before which is touched; null when there is none. */
  stoppedAt: number | null;
  /** What they will say. */
  placeholder: string;
}

export const DEFAULT_PRUNE_OPTIONS = { protectTokens: 40_000, minimumTokens: 20_000 } as const;

/** User turns at the end that are never touched. */
const PROTECTED_USER_TURNS = 2;

/**
 * Plans a prune (spec "compaction" §1). From the newest message back: the last two user turns stay;
 * a summary ends the walk; protected tools, `pruneProtect` and cleared results do not count; of the
 * rest the newest `protectTokens` stay and everything older goes, unless that is less than
 * `minimumTokens`. Linear; changes nothing. `count`: tokens of one
 * message, additive; absent: the estimator's low bound.
 */
export function planPrune(
  messages: readonly AgentMessage[],
  options: PruneOptions = {},
  count: (message: AgentMessage) => number = lowEstimate,
): PrunePlan {
  return stepsAtOnce(planPruneSteps(messages, options, count));
}

/** Messages looked at between two steps. */
const STEP = 128;

/** `planPrune` in steps, for a list that takes long. */
export function* planPruneSteps(
  messages: readonly AgentMessage[],
  options: PruneOptions = {},
  count: (message: AgentMessage) => number = lowEstimate,
): Steps<PrunePlan> {
  const protectTokens = wholeOr(options.protectTokens, DEFAULT_PRUNE_OPTIONS.protectTokens);
  const minimumTokens = wholeOr(options.minimumTokens, DEFAULT_PRUNE_OPTIONS.minimumTokens);
  const placeholder = options.placeholder ?? PRUNE_PLACEHOLDER;
  const protectedTools = new Set([...ALWAYS_PROTECTED_TOOLS, ...(options.protectedTools ?? [])]);
  const nameOf = toolNames(messages);
  const clear: number[] = [];
  let users = 0;
  let seen = 0;
  let prunable = 0;
  let freed = 0;
  let index = messages.length - 1;
  for (; index >= 0; index--) {
    if (index % STEP === 0) yield;
    const message = messages[index]!;
    // Before the zone's test: also a summary inside the zone is a boundary.
    if (isSummaryBoundary(message)) break;
    if (isUserTurn(message)) users++;
    if (users < PROTECTED_USER_TURNS || message.role !== "toolResult") continue;
    if (
      protectedTools.has(nameOf(message, index)) ||
      message.pruneProtect === true ||
      isCleared(message, placeholder)
    )
      continue;
    const tokens = count(message);
    seen += tokens;
    if (seen <= protectTokens) continue;
    const cleared = count(clearedResult(message, placeholder));
    if (tokens <= cleared) continue;
    clear.push(index);
    prunable += tokens;
    freed += tokens - cleared;
  }
  const counted = {
    prunable,
    prunableCount: clear.length,
    stoppedAt: index < 0 ? null : index,
    placeholder,
  };
  if (prunable < minimumTokens || clear.length === 0) return { clear: [], freed: 0, ...counted };
  return { clear: clear.reverse(), freed, ...counted };
}

/**
 * The messages with the planned results cleared; all others are the same objects. `now` (ms since
 * the epoch) becomes `prunedAt`.
 */
export function applyPrune(
  messages: readonly AgentMessage[],
  plan: Pick<PrunePlan, "clear" | "placeholder">,
  { now }: { now?: number } = {},
) {
  const view = messages.slice();
  for (const index of plan.clear) {
    const message = view[index];
    if (message?.role === "toolResult") view[index] = clearedResult(message, plan.placeholder, now);
  }
  return view;
}

/** A message that was never stored has no id to name. */
function placeholderOf(message: ToolResultMessage, placeholder: string): string {
  const id = messageId(message);
  if (!placeholder.includes(ID_MARK)) return placeholder;
  return id === undefined ? PRUNE_PLACEHOLDER : placeholder.replaceAll(ID_MARK, () => id);
}

/** A tool result without its output: the pair stays whole, `details` go too. */
export function clearedResult(
  message: ToolResultMessage,
  placeholder: string,
  prunedAt?: number,
): ToolResultMessage {
  const { details: _details, ...kept } = message;
  return {
    ...kept,
    content: [{ type: "text", text: placeholderOf(message, placeholder) }],
    ...(prunedAt !== undefined && { prunedAt }),
  };
}

/** What tells whether a prune alone makes room. */
export interface PruneEnoughInput {
  /** The prune in question. */
  plan: Pick<PrunePlan, "clear" | "freed">;
  /** Tokens of all messages before the prune; where an overflow would hurt, the high estimate. */
  tokensBefore: number;
  /** Tokens of system prompt, tool schemas and the pending prompt. */
  fixedTokens?: number;
  /** Tokens the provider counted for the whole request. */
  observedTokens?: number;
  /** Tokens of the model. */
  contextWindow: number;
  /** A person asked for a compaction with a wish what to keep: that is a wish for a summary. */
  hasFocus?: boolean;
}

/**
 * Is the prune alone enough? Iff something is cleared and what is left is below 80 % of the window
 * (spec "compaction" §1.4).
 */
export function decidePruneEnough(input: PruneEnoughInput): {
  enough: boolean;
  tokensAfter: number;
} {
  const base = Math.max(input.tokensBefore + (input.fixedTokens ?? 0), input.observedTokens ?? 0);
  const tokensAfter = base - input.plan.freed;
  // Five times instead of 0.8: whole numbers compare exactly.
  const isBelow = tokensAfter * 5 < input.contextWindow * 4;
  return { enough: input.plan.clear.length > 0 && isBelow && input.hasFocus !== true, tokensAfter };
}

/** The low bound, because content is discarded. */
const lowEstimate = (message: AgentMessage) => estimateMessage(message).low;

/** Stands for everything before it: nothing older is touched. */
function isSummaryBoundary(message: AgentMessage): boolean {
  return (
    message.role === "compactionSummary" || (message as { summary?: unknown }).summary === true
  );
}

function isCleared(message: ToolResultMessage, placeholder: string): boolean {
  if (message.prunedAt !== undefined) return true;
  const blocks = blocksOf(message.content);
  const [first, ...others] = blocks;
  if (first?.type !== "text" || others.length > 0) return false;
  return first.text === PRUNE_PLACEHOLDER || first.text === placeholderOf(message, placeholder);
}

/**
 * The result's own tool name, else that of the call it answers; the empty
 * string when neither is known.
 */
function toolNames(
  messages: readonly AgentMessage[],
): (message: ToolResultMessage, index: number) => string {
  let called: Map<number, string> | undefined;
  return (message, index) => {
    if (typeof message.toolName === "string" && message.toolName !== "") return message.toolName;
    called ??= new Map(
      pairToolCalls(messages).pairs.map(({ call, result }) => [result, call.name]),
    );
    return called.get(index) ?? "";
  };
}

const wholeOr = (value: number | undefined, fallback: number) =>
  value !== undefined && Number.isFinite(value) && value >= 0 ? Math.floor(value) : fallback;
