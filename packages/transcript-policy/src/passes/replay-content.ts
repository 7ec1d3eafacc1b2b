// Decides which stored turns say anything worth replaying.
import { definePass, mapChanged, type Report } from "../pass.ts";
import {
  blockText,
  fieldOf,
  isBlank,
  isBlankText,
  isMirror,
  isThinking,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
  textBlock,
  typeOf,
} from "../stored.ts";
import { isStreamErrorText, TEXTS } from "../texts.ts";
import { stripHostContext } from "./runtime-context.ts";
import { isSilentReply } from "./silent-reply.ts";

/** What counts as saying something. */
export interface ReplayContentOptions {
  /** Assistant turns that only say NO_REPLY are dropped (default) or kept. */
  silentReplies?: "drop" | "keep";
}

interface TrailingFailures {
  /**
   * Turns at the end that failed before they said anything are dropped (default), or kept because a
   * request follows: what stands before it then is what stands before it in every later call.
   */
  trailingFailures?: "drop" | "keep";
}

/**
 * Drops blank user texts, delivery mirrors, silent replies, turns cut off while thinking and
 * trailing failures; wraps strings and single blocks in arrays, takes the host's context out of
 * assistant text and gives failed empty turns, and users of blank blocks only, a text (rule R2).
 */
export const normalizeAssistantReplayContent = definePass<ReplayContentOptions & TrailingFailures>(
  "replay-content",
  (messages, options, report) => {
    const kept: number[] = [];
    const replayed = mapChanged(messages, (message, index) => {
      const normalized = normalize(message, index, options, report);
      if (normalized !== undefined) kept.push(index);
      return normalized;
    });
    if (options.trailingFailures === "keep") return replayed;
    return dropTrailing(replayed, (position) =>
      report("dropped", kept[position] ?? position, "a failed turn at the end that said nothing"),
    );
  },
);

/** Drops assistant turns at the end that failed before they said anything (the end of rule R2). */
export const dropTrailingFailures = definePass(
  "trailing-failures",
  (messages, _options, report) =>
    dropTrailing(messages, (index) =>
      report("dropped", index, "a failed turn at the end that said nothing"),
    ),
  ({ lastRole }) => lastRole === "assistant",
);

function normalize(
  message: StoredMessage,
  index: number,
  options: ReplayContentOptions,
  report: Report,
): StoredMessage | undefined {
  const role = roleOf(message);
  if (role === "user" || role === "custom") return normalizeUser(message, index, report);
  return role === "assistant" ? normalizeAssistant(message, index, options, report) : message;
}

function normalizeUser(
  message: StoredMessage,
  index: number,
  report: Report,
): StoredMessage | undefined {
  const { content } = message;
  if (typeof content === "string") {
    if (!isBlank(content)) return message;
    report("dropped", index, "a blank user message");
    return undefined;
  }
  if (!Array.isArray(content)) return message;
  const kept = content.filter((block) => !isBlankText(block));
  if (kept.length === content.length && kept.length > 0) return message;
  report("changed", index, "blank text in a user message");
  // The turn stays: without it two answers would stand side by side, and be taken for one.
  return { ...message, content: kept.length === 0 ? [textBlock(TEXTS.emptyContent)] : kept };
}

function normalizeAssistant(
  message: StoredMessage,
  index: number,
  options: ReplayContentOptions,
  report: Report,
): StoredMessage | undefined {
  const verdict = judgeAssistant(message, options);
  if ("drop" in verdict) {
    report("dropped", index, verdict.drop);
    return undefined;
  }
  if (verdict.content === message.content) return message;
  report("changed", index, verdict.reason);
  return { ...message, content: verdict.content };
}

type Verdict = { drop: string } | { content: unknown; reason: string };

function judgeAssistant(
  message: StoredMessage,
  { silentReplies = "drop" }: ReplayContentOptions,
): Verdict {
  if (isMirror(message)) return { drop: "a copy of what was delivered" };
  const dropsSilence = silentReplies === "drop";
  if (typeof message.content === "string") {
    const text = stripHostContext(message.content);
    if (isBlank(text) || (dropsSilence && isSilentReply(text)))
      return { drop: "an assistant turn that says nothing" };
    return { content: [textBlock(text)], reason: "assistant text that was no list of blocks" };
  }
  const blocks = toBlocks(message.content);
  const spoken = mapChanged(blocks, (block) => speakBlock(block, dropsSilence));
  if (spoken.length === 0 && blocks.length > 0)
    return { drop: "an assistant turn that says nothing" };
  if (
    message.stopReason === "length" &&
    spoken.some(isThinking) &&
    spoken.every((block) => isThinking(block) || isBlankText(block))
  )
    return { drop: "a turn that was cut off while thinking" };
  if (spoken.length === 0 && failedSilently(message))
    return {
      content: [textBlock(TEXTS.streamErrorFallback)],
      reason: "a failed turn without content",
    };
  if (spoken !== blocks)
    return { content: spoken, reason: "host context or a silent reply in assistant text" };
  return { content: blocks, reason: "assistant content that was no list of blocks" };
}

function toBlocks(content: unknown): readonly StoredBlock[] {
  if (Array.isArray(content)) return content;
  return typeof content === "object" && content !== null ? [content as StoredBlock] : [];
}

function speakBlock(block: StoredBlock, dropsSilence: boolean): StoredBlock | undefined {
  const text = fieldOf(block, "text");
  if (typeof text !== "string") return block;
  const bare = stripHostContext(text);
  if ((bare !== text && isBlank(bare)) || (dropsSilence && isSilentReply(bare))) return undefined;
  return bare === text ? block : { ...block, text: bare };
}

function dropTrailing(
  messages: readonly StoredMessage[],
  onDrop: (index: number) => void,
): readonly StoredMessage[] {
  let end = messages.length;
  for (; end > 0 && isSilentFailure(messages[end - 1]!); end--) onDrop(end - 1);
  return end === messages.length ? messages : messages.slice(0, end);
}

function isSilentFailure(message: StoredMessage): boolean {
  if (roleOf(message) !== "assistant" || !failedSilently(message)) return false;
  const blocks = storedBlocks(message);
  if (blocks.length === 0) return Array.isArray(message.content);
  return (
    blocks.length === 1 &&
    typeOf(blocks[0]) === "text" &&
    isStreamErrorText(blockText(blocks[0]) ?? "")
  );
}

const failedSilently = ({ stopReason, usage }: StoredMessage): boolean =>
  stopReason === "error" || (stopReason === "stop" && isZeroUsage(usage));

/**
 * True for a usage record in which every number is zero.
 * @internal
 */
export function isZeroUsage(usage: unknown): boolean {
  if (typeof usage !== "object" || usage === null) return false;
  const values = Object.values(usage);
  return values.length > 0 && values.every((value) => value === 0 || isZeroUsage(value));
}
