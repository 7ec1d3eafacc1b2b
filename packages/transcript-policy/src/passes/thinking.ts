// Decides which thinking may go back to the model that wrote it.
import { definePass, mapChanged } from "../pass.ts";
import {
  fieldOf,
  isThinking,
  nonBlank,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
  textBlock,
  timestampOf,
  typeOf,
  without,
} from "../stored.ts";
import { TEXTS } from "../texts.ts";

/**
 * Where a thinking block may keep its signature.
 * @internal
 */
export const SIGNATURE_FIELDS = ["thinkingSignature", "signature", "thought_signature"] as const;

/**
 * When the newest compaction in the list was made; undefined when there is none.
 * @internal
 */
export function latestCompaction(messages: readonly StoredMessage[]): number | undefined {
  let latest: number | undefined;
  for (const message of messages) {
    if (roleOf(message) !== "compactionSummary") continue;
    const timestamp = timestampOf(message);
    if (timestamp !== undefined && (latest === undefined || timestamp > latest)) latest = timestamp;
  }
  return latest;
}

/**
 * True for a message that was made before the newest compaction.
 * @internal
 */
export function isBefore(message: StoredMessage, compactedAt: number | undefined): boolean {
  const timestamp = compactedAt === undefined ? undefined : timestampOf(message);
  return compactedAt !== undefined && timestamp !== undefined && timestamp < compactedAt;
}

/**
 * Removes signatures that a compaction made stale: they are bound to the history that was replaced
 * (rule R9a).
 */
export const stripStaleThinkingSignatures = definePass(
  "stale-signatures",
  (messages, _options, report) => {
    const compactedAt = latestCompaction(messages);
    if (compactedAt === undefined) return messages;
    return mapChanged(messages, (message, index) => {
      if (roleOf(message) !== "assistant" || !isBefore(message, compactedAt)) return message;
      const blocks = storedBlocks(message);
      const unsigned = mapChanged(blocks, unsign);
      if (unsigned === blocks) return message;
      report("changed", index, "a thinking signature older than the compaction");
      return { ...message, content: unsigned };
    });
  },
  ({ hasSummary, hasThinking }) => hasSummary && hasThinking,
);

function unsign(block: StoredBlock): StoredBlock {
  if (!isThinking(block)) return block;
  return without(
    block,
    typeOf(block) === "redacted_thinking" ? [...SIGNATURE_FIELDS, "data"] : SIGNATURE_FIELDS,
  );
}

/**
 * Removes thinking without any signature, but not from the turn that is still running (rules R9b
 * and R9c).
 */
export const stripInvalidThinkingSignatures = definePass(
  "unsigned-thinking",
  (messages, _options, report) => {
    const exempt = unfinishedTurn(messages);
    return mapChanged(messages, (message, index) => {
      if (roleOf(message) !== "assistant" || index === exempt) return message;
      const kept = withoutThinking(message, (block) => !isSigned(block));
      if (kept !== message) report("changed", index, "thinking without a signature");
      return kept;
    });
  },
  ({ hasThinking }) => hasThinking,
);

/**
 * True when a thinking block carries anything that may be a signature; for a redacted one its data
 * counts.
 * @internal
 */
export function isSigned(block: StoredBlock): boolean {
  const fields =
    typeOf(block) === "redacted_thinking" ? [...SIGNATURE_FIELDS, "data"] : SIGNATURE_FIELDS;
  return fields.some((field) => nonBlank(block[field]) !== undefined);
}

/** Removes thinking from all assistant messages but the last (rule R11), or from all of them. */
export const dropThinkingBlocks = definePass<{ keepLast?: boolean }>(
  "drop-thinking",
  (messages, { keepLast = true }, report) => {
    const last = keepLast
      ? messages.findLastIndex((message) => roleOf(message) === "assistant")
      : -1;
    return mapChanged(messages, (message, index) => {
      if (roleOf(message) !== "assistant" || index === last) return message;
      const kept = withoutThinking(message, () => true);
      if (kept !== message) report("changed", index, "thinking the model does not accept back");
      return kept;
    });
  },
  ({ hasThinking }) => hasThinking,
);

/** Removes thinking from all but the first step of a tool turn that is still running (rule R10). */
export const dropReasoningFromHistory = definePass(
  "drop-reasoning",
  (messages, _options, report) => {
    const exempt = runningToolStep(messages);
    return mapChanged(messages, (message, index) => {
      if (roleOf(message) !== "assistant" || index === exempt) return message;
      const kept = withoutThinking(message, () => true);
      if (kept !== message) report("changed", index, "reasoning of a finished step");
      return kept;
    });
  },
  ({ hasThinking }) => hasThinking,
);

/**
 * The message without the thinking blocks `goes` picks; a text stands in when nothing is left. The
 * same message when none go.
 * @internal
 */
export function withoutThinking(
  message: StoredMessage,
  goes: (block: StoredBlock) => boolean,
): StoredMessage {
  const blocks = storedBlocks(message);
  const kept = mapChanged(blocks, (block) =>
    isThinking(block) && goes(block) ? undefined : block,
  );
  if (kept === blocks) return message;
  return { ...message, content: kept.length === 0 ? [textBlock(TEXTS.omittedReasoning)] : kept };
}

/**
 * The last assistant message, while it is the end of the list or the running tool step; -1
 * otherwise.
 */
function unfinishedTurn(messages: readonly StoredMessage[]): number {
  const last = messages.findLastIndex((message) => roleOf(message) === "assistant");
  return last === messages.length - 1 || last === runningToolStep(messages) ? last : -1;
}

const STEP_CALL_TYPES: ReadonlySet<unknown> = new Set(["toolCall", "tool_use", "function_call"]);

/**
 * The first assistant message after the last user, when it made a call that has been answered; -1
 * otherwise.
 */
function runningToolStep(messages: readonly StoredMessage[]): number {
  const user = messages.findLastIndex((message) => roleOf(message) === "user");
  const step = messages.findIndex(
    (message, index) => index > user && roleOf(message) === "assistant",
  );
  const message = messages[step];
  if (
    message === undefined ||
    !storedBlocks(message).some((block) => STEP_CALL_TYPES.has(fieldOf(block, "type")))
  )
    return -1;
  return messages.some((other, index) => index > step && roleOf(other) === "toolResult")
    ? step
    : -1;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Keeps thinking only with a base64 signature, under its one name; turns left empty go (rule R12).
 */
export const sanitizeAntigravityThinkingBlocks = definePass(
  "base64-thinking",
  (messages, _options, report) =>
    mapChanged(messages, (message, index) => {
      if (roleOf(message) !== "assistant") return message;
      const blocks = storedBlocks(message);
      const signed = mapChanged(blocks, signWithBase64);
      if (signed === blocks) return message;
      report(
        signed.length === 0 ? "dropped" : "changed",
        index,
        "thinking whose signature is missing, no base64 or under another name",
      );
      return signed.length === 0 ? undefined : { ...message, content: signed };
    }),
  ({ hasThinking }) => hasThinking,
);

function signWithBase64(block: StoredBlock): StoredBlock | undefined {
  if (typeOf(block) !== "thinking") return block;
  const candidate =
    block.thinkingSignature ?? block.signature ?? block.thought_signature ?? block.thoughtSignature;
  const signature = nonBlank(candidate);
  if (signature === undefined || signature.length % 4 !== 0 || !BASE64.test(signature))
    return undefined;
  return block.thinkingSignature === signature ? block : { ...block, thinkingSignature: signature };
}
