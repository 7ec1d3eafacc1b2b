// Writes the messages of any host as the contract spells them.
import { isRecord, MAX_LEVELS, withoutDeepParts } from "@clew/plugin-sdk/host";
import { definePass, mapChanged } from "../pass.ts";
import {
  blockText,
  isThinking,
  isToolCallLike,
  nonBlank,
  parseJson,
  resultId,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
  textBlock,
  typeOf,
} from "../stored.ts";
import { SIGNATURE_FIELDS } from "./thinking.ts";

const ROLES: ReadonlySet<string | undefined> = new Set([
  "user",
  "assistant",
  "toolResult",
  "custom",
  "bashExecution",
  "compactionSummary",
  "branchSummary",
]);

/**
 * True for a message some driver can render.
 * @internal
 */
export const isKnownRole = (message: StoredMessage): boolean => ROLES.has(roleOf(message));

/**
 * Writes messages the way the contract spells them, and drops what is no message or block of it.
 */
export const toContractShape = definePass("contract-shape", (messages, _options, report) =>
  mapChanged(messages, (message, index) => {
    if (!isKnownRole(message)) {
      report("dropped", index, "an entry that is no message");
      return undefined;
    }
    if (message.excludeFromContext === true) {
      report("dropped", index, "a command its author kept out of the context");
      return undefined;
    }
    const shaped = shapeMessage(message);
    if (shaped !== message)
      report("changed", index, "a spelling or block the contract does not know");
    const bounded = boundArguments(shaped);
    if (bounded !== shaped)
      report("changed", index, `tool arguments nested deeper than ${MAX_LEVELS} levels`);
    return bounded;
  }),
);

function shapeMessage(message: StoredMessage): StoredMessage {
  switch (roleOf(message)) {
    case "assistant":
      return withBlocks(message, shapeAssistantBlock);
    case "toolResult":
      return shapeResult(
        withBlocks(message, (block) => (isTextOrImage(block) ? block : undefined)),
      );
    case "custom":
    case "user":
      return typeof message.content === "string"
        ? message
        : withBlocks(message, (block) =>
            isTextOrImage(block) || isEmbeddedResult(block) ? block : undefined,
          );
    default:
      return message;
  }
}

function withBlocks(
  message: StoredMessage,
  shape: (block: StoredBlock) => StoredBlock | undefined,
): StoredMessage {
  const blocks = mapChanged(listOf(message.content), shape);
  return blocks === message.content ? message : { ...message, content: blocks };
}

function listOf(content: unknown): readonly StoredBlock[] {
  if (Array.isArray(content)) return content;
  if (typeof content === "string") return [textBlock(content)];
  return typeof content === "object" && content !== null ? [content as StoredBlock] : [];
}

const isTextOrImage = (block: StoredBlock): boolean =>
  blockText(block) !== undefined || typeOf(block) === "image";

/**
 * Older hosts kept results inside user messages; whether they may stay is decided with the turns.
 * @internal
 */
export const isEmbeddedResult = (block: StoredBlock): boolean =>
  typeOf(block) === "toolResult" || typeOf(block) === "tool_result";

function shapeAssistantBlock(block: StoredBlock): StoredBlock | undefined {
  if (isThinking(block)) return shapeThinking(block);
  if (isToolCallLike(block)) return shapeCall(block);
  return blockText(block) === undefined && !isProviderBlock(block) ? undefined : block;
}

/** True for an opaque block that tells where it came from. */
const isProviderBlock = (block: StoredBlock): boolean =>
  typeOf(block) === "provider" &&
  [block.api, block.provider, block.model, block.kind].every(
    (name) => nonBlank(name) !== undefined,
  ) &&
  "data" in block;

function shapeThinking(block: StoredBlock): StoredBlock {
  if (typeOf(block) === "redacted_thinking") return block;
  const named = typeof block.thinking === "string" ? block : { ...block, thinking: "" };
  if (
    nonBlank(block.thinkingSignature) !== undefined ||
    typeof block.thinkingSignature === "object"
  )
    return named;
  const signature = SIGNATURE_FIELDS.map((field) => nonBlank(block[field])).find(
    (value) => value !== undefined,
  );
  return signature === undefined ? named : { ...named, thinkingSignature: signature };
}

/** Everything that looks into arguments later goes as deep as they do. */
function boundArguments(message: StoredMessage): StoredMessage {
  if (roleOf(message) !== "assistant") return message;
  const blocks = storedBlocks(message);
  const bounded = mapChanged(blocks, (block) => {
    if (!isToolCallLike(block)) return block;
    const args = withoutDeepParts(block.arguments);
    return args === block.arguments ? block : { ...block, arguments: args };
  });
  return bounded === blocks ? message : { ...message, content: bounded };
}

const CALL_ID_FIELDS = ["id", "call_id", "toolCallId", "toolUseId", "tool_call_id", "tool_use_id"];

function shapeCall(block: StoredBlock): StoredBlock | undefined {
  const id = CALL_ID_FIELDS.map((field) => nonBlank(block[field])).find(
    (value) => value !== undefined,
  );
  const name = nonBlank(block.name);
  if (id === undefined || name === undefined) return undefined;
  if (
    block.type === "toolCall" &&
    block.id === id &&
    block.name === name &&
    isRecord(block.arguments)
  )
    return block;
  const thoughtSignature = block.thoughtSignature ?? block.thought_signature;
  const args = toArguments(block.arguments ?? block.input);
  // A call cut off while it was written says so here; the rule for malformed calls decides about
  // it.
  const { partialJson } = block;
  return {
    type: "toolCall",
    id,
    name,
    arguments: args,
    ...(thoughtSignature !== undefined && { thoughtSignature }),
    ...(partialJson !== undefined && { partialJson }),
  };
}

/** An object stays; JSON text of an object is read; anything else is kept under one name. */
function toArguments(value: unknown): StoredBlock {
  if (isRecord(value)) return value;
  const parsed = typeof value === "string" ? parseJson(value) : undefined;
  if (isRecord(parsed)) return parsed;
  return nonBlank(value) === undefined && typeof value !== "number" && !Array.isArray(value)
    ? {}
    : { value };
}

function shapeResult(message: StoredMessage): StoredMessage {
  const id = resultId(message);
  const toolName = nonBlank(message.toolName) ?? "unknown";
  const isError = message.isError === true;
  // An id that only blanks tell apart is left to the pairing, which knows the call.
  const hasId = id === undefined || nonBlank(message.toolCallId) !== undefined;
  if (hasId && message.isError === isError && message.toolName === toolName) return message;
  return { ...message, ...(!hasId && { toolCallId: id }), toolName, isError };
}
