// How messages read as text in a summary request.
import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import { createNotes, inSlices } from "@clew/plugin-sdk/host";
import { estimateText } from "@clew/plugin-sdk/tokens";
import {
  type AnyBlock,
  blocksOf,
  escapeTags,
  headOf,
  otherSessionOf,
  quotedTextOf,
  tailOf,
  textOf,
  toModelMessage,
} from "@clew/plugin-sdk/transcript";
import { argumentsOf } from "./call-arguments.ts";
import type { CountMessage } from "./chunks.ts";

/** Spec "compaction" §2.1, §2.4. */
export const TOOL_TEXT_CHARS = 1000;
/** Of the arguments of one call, about. */
const CALL_CHARS = 8000;
const LONG_TEXT_CHARS = 50_000;
/** Of a result, where its end tells of an error. */
const TAIL_CHARS = 300;
const TELLING = /error|exception|failed|fatal|traceback|panic|stack trace|errno|exit code/i;

const IMAGE_OMITTED = "[image data omitted from summary input]";
const MEDIA_OMITTED = "[non-text data omitted from summary input]";
const NAMED_MEDIA = 8;

/**
 * The conversation as `[User]: …`, `[Another session KEY]: …`, `[Assistant]: …`,
 * `[Assistant tool calls]: …` and `[Tool result]: …` paragraphs. Thinking is left out. Nothing in
 * it can close the tags that a summary request puts around it.
 */
export function serializeConversation(messages: readonly AgentMessage[]): string {
  let withMedia = 0;
  const paragraphs = messages.flatMap((message) => {
    const marker = mediaMarker(message);
    if (marker !== undefined) withMedia++;
    return serializeMessage(message, withMedia <= NAMED_MEDIA ? marker : undefined);
  });
  const unnamed = withMedia - NAMED_MEDIA;
  if (unnamed > 0)
    paragraphs.push(`[media of ${unnamed} more messages omitted from summary input]`);
  return paragraphs.join("\n\n");
}

const costs = createNotes<AgentMessage, number>();

/**
 * Tokens (the estimate's middle) of a message in `serializeConversation`. Remembered per object.
 */
export function serializedTokens(message: AgentMessage): number {
  const known = costs.get(message);
  if (known !== undefined) return known;
  const cost = estimateText(serializeMessage(message, mediaMarker(message)).join("\n\n")).estimate;
  costs.set(message, cost);
  return cost;
}

/** What is counted here, in slices, is known to whoever divides the messages. */
export const countInSlices = (
  messages: readonly AgentMessage[],
  signal: AbortSignal | undefined,
): Promise<void> => inSlices(messages, (message) => void serializedTokens(message), { signal });

function serializeMessage(message: AgentMessage, marker: string | undefined): string[] {
  const text = withMarker(escapeTags(visibleText(message)), marker);
  switch (message.role) {
    case "assistant": {
      const calls = toolCalls(message);
      return [
        ...(text === "" ? [] : [`[Assistant]: ${text}`]),
        ...(calls === "" ? [] : [`[Assistant tool calls]: ${escapeTags(calls)}`]),
      ];
    }
    case "toolResult":
      return [`[Tool result]: ${text}`];
    default:
      return text === "" ? [] : [`[${userName(message)}${sender(message)}]: ${text}`];
  }
}

function visibleText(message: AgentMessage): string {
  if (message.role === "toolResult") return cutToolText(textOf(message));
  if (message.role === "assistant" || message.role === "user") return quotedTextOf(message);
  // A summary needs no sentence that says it is one.
  if (message.role === "branchSummary" || message.role === "compactionSummary")
    return message.summary;
  const view = toModelMessage(message);
  if (view === undefined) return "";
  return message.role === "bashExecution" ? cutToolText(textOf(view)) : textOf(view);
}

/**
 * At most 1,000 characters: the head, and a tail when errors stand there and not in
 * what the tail displaces.
 */
export function cutToolText(text: string): string {
  if (text.length <= TOOL_TEXT_CHARS) return text;
  const wantsTail =
    TELLING.test(text.slice(-TOOL_TEXT_CHARS)) &&
    !TELLING.test(text.slice(TOOL_TEXT_CHARS - TAIL_CHARS, TOOL_TEXT_CHARS));
  const tail = wantsTail ? tailOf(text, TAIL_CHARS) : "";
  const head = headOf(text, TOOL_TEXT_CHARS - tail.length);
  return `${head}\n[${text.length - head.length - tail.length} characters cut]${tail === "" ? "" : `\n${tail}`}`;
}

function toolCalls(message: AssistantMessage): string {
  const calls = blocksOf(message.content).filter(({ type }) => type === "toolCall");
  return calls.map((call) => `${String(call.name)}(${argumentList(call)})`).join("; ");
}

/** As many as a call may take of a request; how many are left out is told. */
function argumentList(call: AnyBlock): string {
  const shown: string[] = [];
  let chars = 0;
  let more = 0;
  for (const [key, value] of argumentsOf(call))
    if (chars >= CALL_CHARS) more++;
    else {
      const argument = `${headOf(key, TOOL_TEXT_CHARS)}=${valueText(value)}`;
      shown.push(argument);
      chars += argument.length;
    }
  return more === 0 ? shown.join(", ") : `${shown.join(", ")}, [${more} more arguments cut]`;
}

/** A long text is cut first: to escape what would be cut takes long. */
const valueText = (value: unknown) =>
  typeof value === "string" && value.length > LONG_TEXT_CHARS
    ? JSON.stringify(cutToolText(value))
    : cutToolText(JSON.stringify(value) ?? "null");

function mediaMarker(message: AgentMessage): string | undefined {
  if (!("content" in message)) return undefined;
  const kinds = blocksOf(message.content).map(({ type }) => type);
  if (kinds.includes("image")) return IMAGE_OMITTED;
  return kinds.some((kind) => !KNOWN_BLOCKS.has(kind)) ? MEDIA_OMITTED : undefined;
}

const KNOWN_BLOCKS = new Set(["text", "thinking", "redacted_thinking", "toolCall", "provider"]);

/** Of whoever a user message speaks for. */
export function userName(message: AgentMessage): string {
  const other = otherSessionOf(message);
  if (other === undefined) return "User";
  return other.key === null ? "Another session" : `Another session ${escapeTags(other.key)}`;
}

function sender(message: AgentMessage): string {
  if (message.role !== "user" || typeof message.__openclaw?.senderId !== "string") return "";
  const { senderId, senderName, senderUsername } = message.__openclaw;
  return ` sender=${escapeTags(JSON.stringify({ id: senderId, name: senderName, username: senderUsername }))}`;
}

const withMarker = (text: string, marker: string | undefined) =>
  marker === undefined ? text : text === "" ? marker : `${text}\n${marker}`;

/** As the model is known to count, where that is more than we estimate. */
export function countedTokens({ tokenRatio }: { tokenRatio: number }): CountMessage {
  const ratio = Math.max(1, tokenRatio);
  return (message) => Math.ceil(ratio * serializedTokens(message));
}
