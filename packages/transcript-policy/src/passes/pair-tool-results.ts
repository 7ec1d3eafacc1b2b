// Decides which result answers which tool call.
import { type Clock, definePass, type Report } from "../pass.ts";
import {
  blockText,
  callId,
  fieldOf,
  hasFailed,
  isToolCall,
  nonBlank,
  RESULT_ID_FIELDS,
  resultId,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
  textBlock,
} from "../stored.ts";
import { isMissingResultText, TEXTS } from "../texts.ts";
import {
  collectSpan,
  findSpans,
  findStrays,
  keyOf,
  nameOf,
  type Span,
  type Strays,
} from "../tool-spans.ts";

/** How gaps between calls and results are filled. */
export interface PairingOptions {
  /**
   * What to do with a failed or aborted turn that made calls: "keep" it with the results it has
   * (default), or "drop" it and them.
   */
  failedTurns?: "keep" | "drop";
  /** The text of a result that has to be made up. */
  missingResultText?: string;
  /** Stamps results that are made up. Default: the wall clock. */
  clock?: Clock;
}

/** Marks a made-up result; a later real one replaces it. */
const SYNTHETIC_MARK = "openclawSyntheticMissingToolResult";

/**
 * Puts exactly one result after each tool call, in the order of the calls (rule R5). A call's
 * result is looked for up to the next assistant message with calls, then among later results that
 * belong to no call there; else an error result is inserted. Ids may repeat in later turns.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { sanitizeToolUseResultPairing } from "@clew/transcript-policy/passes";
 *
 * const call = { type: "toolCall" as const, id: "a", name: "read", arguments: {} };
 * const { messages, changes } = sanitizeToolUseResultPairing({
 *   messages: [{ role: "assistant", content: [call], stopReason: "toolUse" }],
 * });
 * assert.equal(messages.length, 2);
 * assert.deepEqual(changes.map(({ action }) => action), ["inserted"]);
 * ```
 */
export const sanitizeToolUseResultPairing = definePass<PairingOptions>(
  "pair-tool-results",
  (messages, options, report) => {
    if (isPaired(messages)) return messages;
    const spans = findSpans(messages);
    if (spans.length === 0) return dropLeadingResults(messages, messages.length, report);
    const strays = findStrays(messages, spans);
    const sections = [
      dropLeadingResults(messages, spans[0]!.start, report),
      ...spans.map((span) => pairSpan(messages, span, strays, options, report)),
    ];
    for (const index of strays.unclaimed())
      report("dropped", index, "a tool result that answers no call");
    return sections.flat();
  },
  ({ hasTools }) => hasTools,
);

/**
 * The usual case, decided without building anything: every call is followed by its one result, in
 * order.
 */
function isPaired(messages: readonly StoredMessage[]): boolean {
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]!;
    const role = roleOf(message);
    if (role === "toolResult") return false;
    if (role !== "assistant") continue;
    for (const block of storedBlocks(message)) {
      if (!isToolCall(block)) continue;
      if (hasFailed(message)) return false;
      index += 1;
      const result = messages[index];
      if (result === undefined || roleOf(result) !== "toolResult" || !answersCleanly(result, block))
        return false;
    }
  }
  return true;
}

const answersCleanly = (result: StoredMessage, call: StoredBlock): boolean =>
  resultId(result) === keyOf(call) &&
  RESULT_ID_FIELDS.some((field) => result[field] === call.id) &&
  nonBlank(result.toolName) === result.toolName &&
  result.toolName !== undefined;

function dropLeadingResults(
  messages: readonly StoredMessage[],
  end: number,
  report: Report,
): readonly StoredMessage[] {
  const kept: StoredMessage[] = [];
  for (let index = 0; index < end; index++) {
    const message = messages[index]!;
    if (roleOf(message) === "toolResult")
      report("dropped", index, "a tool result before any tool call");
    else kept.push(message);
  }
  return kept;
}

function pairSpan(
  messages: readonly StoredMessage[],
  span: Span,
  strays: Strays,
  options: PairingOptions,
  report: Report,
): readonly StoredMessage[] {
  const turn = messages[span.start]!;
  const { others, results } = collectSpan(messages, span);
  if (hasFailed(turn) && options.failedTurns === "drop") {
    report("dropped", span.start, "a failed turn whose tool calls were never finished");
    for (const index of [...results.values()].flat())
      report("dropped", index, "the result of a call in a failed turn");
    return others.map((index) => messages[index]!);
  }
  const own: number[] = [];
  const chosen = new Map(
    [...results].map(([id, indexes]) => [
      id,
      // The next one is the last: taking the first off a long list would move all others.
      chooseResults(messages, indexes, span.ids.get(id) ?? 0, report).reverse(),
    ]),
  );
  const paired = span.calls.flatMap((call) => {
    const key = keyOf(call);
    const index = chosen.get(key)?.pop();
    if (index !== undefined) {
      own.push(index);
      return [mendResult(messages[index]!, call, index, report)];
    }
    if (hasFailed(turn)) return [];
    const claimed = strays.claim(key, span.end);
    if (claimed !== undefined) {
      report("moved", claimed, "a tool result that stood after a later call");
      return [mendResult(messages[claimed]!, call, claimed, report)];
    }
    report("inserted", span.start + 1, "a tool call without a result");
    return [makeResult(call, options)];
  });
  const order = [span.start, ...own, ...others];
  const moved = order.find((index, position) => index > (order[position + 1] ?? index));
  if (moved !== undefined)
    report("moved", moved, "a message between a call and its result, or a result out of order");
  return [turn, ...paired, ...others.map((index) => messages[index]!)];
}

/**
 * The results kept for one id: as many as it has calls, the first ones, and real ones before
 * made-up ones.
 */
function chooseResults(
  messages: readonly StoredMessage[],
  indexes: readonly number[],
  wanted: number,
  report: Report,
): number[] {
  const rank = (index: number) =>
    isSynthetic(messages[index]!) ? 2 : resultId(messages[index]!) === undefined ? 1 : 0;
  const best = new Set(
    indexes.toSorted((left, right) => rank(left) - rank(right) || left - right).slice(0, wanted),
  );
  for (const index of indexes)
    if (!best.has(index)) report("dropped", index, "a second result for the same call");
  return indexes.filter((index) => best.has(index));
}

function mendResult(
  result: StoredMessage,
  call: StoredBlock,
  index: number,
  report: Report,
): StoredMessage {
  let mended = result;
  if (resultId(result) === undefined) {
    // Which call it really answered is a guess: an error keeps the model from building on it.
    mended = { ...mended, toolCallId: callId(call), isError: true };
    report("changed", index, "a tool result without an id, adopted by the only call before it");
  } else if (!RESULT_ID_FIELDS.some((field) => result[field] === call.id)) {
    mended = { ...mended, toolCallId: call.id };
    report("changed", index, "a tool result whose id differed from its call's by blanks");
  }
  const name = nonBlank(result.toolName) ?? nameOf(call) ?? "unknown";
  if (name !== result.toolName) {
    mended = { ...mended, toolName: name };
    report("changed", index, "a tool result without a clean tool name");
  }
  return mended;
}

function makeResult(
  call: StoredBlock,
  { missingResultText = TEXTS.missingToolResult, clock = Date }: PairingOptions,
): StoredMessage {
  return {
    role: "toolResult",
    toolCallId: callId(call),
    toolName: nameOf(call) ?? "unknown",
    content: [textBlock(missingResultText)],
    details: { [SYNTHETIC_MARK]: true },
    isError: true,
    timestamp: clock.now(),
  };
}

/**
 * True for a result that was made up.
 * @internal
 */
export function isSynthetic(result: StoredMessage): boolean {
  if (result.isError !== true) return false;
  if (fieldOf(result.details as StoredBlock, SYNTHETIC_MARK) === true) return true;
  const text = blockText(storedBlocks(result)[0]);
  return text !== undefined && (isMissingResultText(text) || text === TEXTS.abortedToolResult);
}
