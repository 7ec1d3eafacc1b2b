// How long a tool result may be for a model, and which stored ones to shorten.
import type { AgentMessage, TextBlock, ToolResultMessage } from "../contract/message.ts";

/** Sizes in characters (spec "compaction" §3.4). */
export interface ToolResultCaps {
  /** One result. */
  perResult: number;
  /** All results together. */
  aggregate: number;
}

const CHARS_PER_TOKEN = 4;
const SMALLEST_RESULT = 1024;

/**
 * min(0.3 × window, 16,000 | 32,000 | 64,000 by window) for one, at least half the window for all.
 */
export function toolResultCaps(contextWindow: number): ToolResultCaps {
  const windowChars = contextWindow * CHARS_PER_TOKEN;
  const step = contextWindow < 100_000 ? 16_000 : contextWindow < 200_000 ? 32_000 : 64_000;
  const perResult = Math.max(SMALLEST_RESULT, Math.floor(Math.min(0.3 * windowChars, step)));
  return { perResult, aggregate: Math.max(4 * perResult, Math.floor(0.5 * windowChars)) };
}

/** How far one result is shortened. */
export interface ToolResultCut {
  /** Position of the message. */
  index: number;
  /** Characters of text to keep. */
  keep: number;
}

/** Which results are shortened, and what that saves. */
export interface ToolResultTruncation {
  /** Oldest first; empty = none is too long. */
  cuts: readonly ToolResultCut[];
  /** Characters the cuts remove. */
  reducibleChars: number;
}

/** How much room there is. */
export interface TruncationOptions {
  /** Tokens of the model. */
  contextWindow: number;
  /** Characters to free beyond the per-result caps; Infinity = as many as possible. Absent: 0. */
  freeChars?: number;
}

/**
 * Cuts every result to its cap, then the oldest ones further until all together fit
 * and `freeChars` are free.
 */
export function planToolResultTruncation(
  messages: readonly AgentMessage[],
  { contextWindow, freeChars = 0 }: TruncationOptions,
): ToolResultTruncation {
  const caps = toolResultCaps(contextWindow);
  const results = messages.flatMap((message, index) => {
    if (message.role !== "toolResult") return [];
    const length = textLength(message);
    return [{ index, length, keep: Math.min(length, caps.perResult) }];
  });
  const total = results.reduce((sum, { keep }) => sum + keep, 0);
  let excess = Math.max(total - caps.aggregate, freeChars);
  for (const result of results) {
    if (excess <= 0) break;
    const removed = Math.min(excess, Math.max(0, result.keep - SMALLEST_RESULT));
    result.keep -= removed;
    excess -= removed;
  }
  // A cut costs a marker: it must remove more than that.
  const cuts = results.filter(({ length, keep }) => length - keep > MARKER_ALLOWANCE);
  return {
    cuts: cuts.map(({ index, keep }) => ({ index, keep })),
    reducibleChars: cuts.reduce((sum, { length, keep }) => sum + length - keep, 0),
  };
}

/** The list with the planned messages shortened; others are the same objects. */
export function applyToolResultTruncation(
  messages: readonly AgentMessage[],
  { cuts }: ToolResultTruncation,
): readonly AgentMessage[] {
  if (cuts.length === 0) return messages;
  const keepAt = new Map(cuts.map(({ index, keep }) => [index, keep]));
  return messages.map((message, index) => {
    const keep = keepAt.get(index);
    return keep === undefined || message.role !== "toolResult" ? message : shorten(message, keep);
  });
}

const capped = new WeakMap<ToolResultMessage, Map<number, ToolResultMessage>>();

/**
 * A view in which no tool result is longer than its cap. The same message and cap give the same
 * object, so that prompts stay stable.
 */
export function capToolResults(
  messages: readonly AgentMessage[],
  contextWindow: number,
): readonly AgentMessage[] {
  const { perResult } = toolResultCaps(contextWindow);
  const isLong = (message: AgentMessage) =>
    message.role === "toolResult" && textLength(message) - perResult > MARKER_ALLOWANCE;
  if (!messages.some(isLong)) return messages;
  return messages.map((message) => {
    if (message.role !== "toolResult" || !isLong(message)) return message;
    const known = capped.get(message) ?? new Map<number, ToolResultMessage>();
    capped.set(message, known);
    const view = known.get(perResult) ?? shorten(message, perResult);
    known.set(perResult, view);
    return view;
  });
}

const lengths = new WeakMap<ToolResultMessage, number>();

function textLength(message: ToolResultMessage): number {
  const known = lengths.get(message);
  if (known !== undefined) return known;
  const content: unknown = message.content;
  const length = Array.isArray(content)
    ? texts(message).reduce((sum, text) => sum + text.length, 0)
    : 0;
  lengths.set(message, length);
  return length;
}

const texts = (message: ToolResultMessage) =>
  message.content
    .filter((block): block is TextBlock => block?.type === "text" && typeof block.text === "string")
    .map((block) => block.text);

/** Room for the marker below. */
const MARKER_ALLOWANCE = 128;
const MAX_TAIL_SHARE = 0.3;
const MAX_TAIL = 4000;
const TELLING_TAIL =
  /error|exception|failed|fatal|traceback|panic|exit code|total|summary|passed|[}\]]\s*$/i;

/**
 * Keeps the head, and a tail when it says how things ended: an error, the end
 * of JSON, a summary line.
 */
function shorten(message: ToolResultMessage, keep: number): ToolResultMessage {
  const text = texts(message).join("\n");
  const tailLength = Math.min(Math.floor(keep * MAX_TAIL_SHARE), MAX_TAIL);
  const wantsTail = TELLING_TAIL.test(text.slice(-tailLength));
  const head = wholeCharacters(text.slice(0, wantsTail ? keep - tailLength : keep));
  const tail = wantsTail ? wholeCharacters(text.slice(text.length - tailLength)) : "";
  const marker = `\n[${text.length - head.length - tail.length} characters cut here to fit the model; the transcript holds the whole result]\n`;
  const others = message.content.filter((block) => block.type !== "text");
  return { ...message, content: [{ type: "text", text: `${head}${marker}${tail}` }, ...others] };
}

/** Without half a surrogate pair at either end. */
const wholeCharacters = (text: string) => text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "");
