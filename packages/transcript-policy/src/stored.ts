// Reads stored messages and blocks, taking nothing for granted.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";

/** A block as it may be stored: any kind, any spelling. */
export interface StoredBlock {
  /** Nothing is sure of a field before it was looked at. */
  readonly [field: string]: unknown;
}

/**
 * A message as it may be stored: any role, content of any shape. Null and scalars occur too, hence
 * the guards below.
 */
export interface StoredMessage {
  /** Nothing is sure of a field before it was looked at. */
  readonly [field: string]: unknown;
}

/**
 * The one place where a contract type is widened: what a file says it holds is not what it must
 * hold.
 */
export const asStored = (messages: readonly AgentMessage[]): readonly StoredMessage[] =>
  messages as readonly unknown[] as readonly StoredMessage[];

/** The way back: passes keep the roles and shapes they were given. */
export const asAgentMessages = (messages: readonly StoredMessage[]): readonly AgentMessage[] =>
  messages as readonly unknown[] as readonly AgentMessage[];

/** The role; undefined for anything that is no message. */
export function roleOf(message: StoredMessage | undefined): string | undefined {
  return isRecord(message) && typeof message.role === "string" ? message.role : undefined;
}

/** The message's id, as `messageId` of the contract reads it; undefined when it has none. */
export function idOf(message: StoredMessage): string | undefined {
  return isRecord(message) ? messageId(message as unknown as AgentMessage) : undefined;
}

/**
 * The content's blocks; empty unless the content is an array. Entries that are no objects read as
 * empty blocks.
 */
export function storedBlocks(message: StoredMessage): readonly StoredBlock[] {
  const content = isRecord(message) ? message.content : undefined;
  return Array.isArray(content) ? (content as readonly StoredBlock[]) : [];
}

/** One field of a block; undefined when the block is no object. */
export const fieldOf = (block: StoredBlock | undefined, name: string): unknown =>
  isRecord(block) ? block[name] : undefined;

export const typeOf = (block: StoredBlock | undefined): unknown => fieldOf(block, "type");

/** The block's text, when it is a text block with a string. */
export function blockText(block: StoredBlock | undefined): string | undefined {
  const text = fieldOf(block, "text");
  return typeOf(block) === "text" && typeof text === "string" ? text : undefined;
}

/**
 * Blank as `String.prototype.trim` sees it: a no-break space is blank, a zero width space is not.
 */
export const isBlank = (text: string): boolean => text.trim() === "";

export const isBlankText = (block: StoredBlock | undefined): boolean => {
  const text = blockText(block);
  return text !== undefined && isBlank(text);
};

/** The trimmed string, or undefined when it is none or blank. */
export function nonBlank(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const trimmed = value.trim();
  return trimmed === "" ? undefined : trimmed;
}

export const isThinking = (block: StoredBlock | undefined): boolean => {
  const type = typeOf(block);
  return type === "thinking" || type === "redacted_thinking";
};

const CALL_TYPES: ReadonlySet<unknown> = new Set(["toolCall", "toolUse", "functionCall"]);
const ALL_CALL_TYPES: ReadonlySet<unknown> = new Set([
  ...CALL_TYPES,
  "tool_call",
  "tool_use",
  "function_call",
]);

/** A tool call for pairing and ids: the three camel spellings, with a non-empty string id. */
export function isToolCall(block: StoredBlock | undefined): boolean {
  const id = fieldOf(block, "id");
  return CALL_TYPES.has(typeOf(block)) && typeof id === "string" && id !== "";
}

/** A tool call for validation: all six spellings, whatever else it holds. */
export const isToolCallLike = (block: StoredBlock | undefined): boolean =>
  ALL_CALL_TYPES.has(typeOf(block));

/** The id of a block `isToolCall` accepted. */
export const callId = (block: StoredBlock): string => String(block.id);

/** Where a result may keep the id of its call, in reading order. */
export const RESULT_ID_FIELDS = [
  "toolCallId",
  "toolUseId",
  "tool_call_id",
  "tool_use_id",
  "callId",
  "call_id",
] as const;

/** The trimmed id of the call a result answers: the first non-blank one. */
export function resultId(message: StoredMessage): string | undefined {
  for (const field of RESULT_ID_FIELDS) {
    const id = nonBlank(message[field]);
    if (id !== undefined) return id;
  }
  return undefined;
}

export const hasFailed = (message: StoredMessage): boolean =>
  message.stopReason === "error" || message.stopReason === "aborted";

/** ms since the epoch of a numeric or ISO 8601 timestamp; undefined when there is none. */
export function timestampOf(message: StoredMessage): number | undefined {
  const { timestamp } = message;
  const parsed = typeof timestamp === "string" ? Date.parse(timestamp) : timestamp;
  return typeof parsed === "number" && Number.isFinite(parsed) ? parsed : undefined;
}

/** A copy without these fields; the same object when it has none of them. */
export function without<T extends StoredBlock | StoredMessage>(
  value: T,
  fields: readonly string[],
): T {
  if (!fields.some((field) => field in value)) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([field]) => !fields.includes(field)),
  ) as T;
}

/** A text block of ours. */
export const textBlock = (text: string): StoredBlock => ({ type: "text", text });

/**
 * The model names under which a host stores copies of what it delivered: no part of what a model
 * said, and never replayed.
 */
export const MIRROR_MODELS = ["delivery-mirror", "gateway-injected"] as const;

/** True for a copy a host stored under one of these names. */
export const isMirror = (
  { role, provider, model }: StoredMessage,
  names: readonly string[] = MIRROR_MODELS,
): boolean =>
  role === "assistant" && provider === "openclaw" && names.some((name) => name === model);

/** The parsed value, or undefined when the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
