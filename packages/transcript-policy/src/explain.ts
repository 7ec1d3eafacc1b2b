// Says why a provider would reject a history, before anything is sent.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { isRecord, type ModelProfile } from "@clew/plugin-sdk/host";
import { explainImage } from "./images/wire-image.ts";
import { isEmbeddedResult, isKnownRole } from "./passes/contract-shape.ts";
import { isReadable } from "./passes/fit-wire.ts";
import { type ForeignOptions, hasForeignProof } from "./passes/foreign.ts";
import { isReasoningItem, itemId } from "./passes/responses.ts";
import { readerOf } from "./readers.ts";
import type { ModelTraits } from "./route.ts";
import {
  asStored,
  blockText,
  isBlank,
  isThinking,
  isToolCall,
  isToolCallLike,
  resultId,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
  typeOf,
} from "./stored.ts";
import { isWellFormed } from "./surrogates.ts";
import { type Fault, type WireRules, wireRules } from "./wires.ts";

/** One reason why a wire would reject a list of messages. */
export interface InvalidMessage {
  /** The wire's own name for its rule (spec "provider-wire"), e.g. "tool_use.unanswered". */
  rule: string;
  /** Position of the message. */
  index: number;
  /** One sentence for people; holds no message content. */
  message: string;
}

/**
 * What is about to be sent, and to which model: an unknown api is held to the rules all of them
 * share.
 */
export interface ExplainRequest {
  /** As they would be sent. */
  messages: readonly AgentMessage[];
  /** Wire protocol, e.g. "openai-completions". */
  modelApi: string;
  /** Default: "", a model of which nothing is known. */
  modelId?: string;
  /** Provider id. Default: "", one of which nothing is known. */
  provider?: string;
  /** Default: nothing is known beyond the name. */
  model?: ModelTraits;
  /** What the host knows of the model, as in `ModelRef`. Default: what the catalogue says. */
  profile?: ModelProfile;
  /** Fingerprint of the account that is asked, as in `ModelRef`. Default: taken for any. */
  account?: string;
}

type Tell = (fault: Fault, index: number, message: string) => void;

/**
 * Lists why the wire would reject these messages; empty = it would not. Only rules a list of
 * messages can break: what depends on the request around it (tools, thinking settings, sizes) is
 * not looked at.
 */
export function explainInvalid({
  messages,
  modelId = "",
  provider = "",
  ...rest
}: ExplainRequest): InvalidMessage[] {
  const route = { ...rest, provider, modelId };
  const wire = wireRules(route);
  const reader = readerOf(route);
  const faults: InvalidMessage[] = [];
  const tell: Tell = (fault, index, message) =>
    faults.push({ rule: wire.ruleNames[fault] ?? fault, index, message });
  const stored = asStored(messages);
  for (const [index, message] of stored.entries())
    explainMessage(message, index, { wire, reader }, tell);
  explainPairs(stored, tell);
  explainOrder(stored, wire, tell);
  explainIds(stored, tell);
  if (wire.idMode === "responses") explainItems(stored, tell);
  return faults.toSorted((left, right) => left.index - right.index);
}

function explainMessage(
  message: StoredMessage,
  index: number,
  route: ForeignOptions,
  tell: Tell,
): void {
  const { wire } = route;
  const role = roleOf(message);
  if (!isKnownRole(message)) {
    tell("role", index, "This is no message: it has no role anybody knows.");
    return;
  }
  if (!isWellFormed(message.content)) tell("surrogate", index, "A text holds half a character.");
  const isUsers = role === "user" || role === "custom";
  if (!isUsers && role !== "assistant" && role !== "toolResult") return;
  const { content } = message;
  if (isUsers && typeof content === "string") {
    if (isBlank(content)) tell("contentEmpty", index, "The user message is blank.");
    return;
  }
  if (!Array.isArray(content)) tell("content", index, "The content is no list of blocks.");
  else if (content.length === 0) tell("contentEmpty", index, "The message has no content.");
  for (const block of storedBlocks(message)) explainBlock(block, message, index, route, tell);
  if (
    wire.thinking === "signed" &&
    role === "assistant" &&
    isThinking(storedBlocks(message).at(-1))
  )
    tell("thinkingEnd", index, "The message ends with thinking.");
}

function explainBlock(
  block: StoredBlock,
  message: StoredMessage,
  index: number,
  { wire, reader }: ForeignOptions,
  tell: Tell,
): void {
  const role = roleOf(message);
  const text = blockText(block);
  if (text !== undefined) {
    if (isBlank(text)) tell("textBlank", index, "A text block is blank.");
  } else if (typeOf(block) === "image" && role !== "assistant") {
    const fault = explainImage(block, wire);
    if (fault !== undefined) tell("image", index, `An image cannot be sent: ${fault}.`);
  } else if (role === "assistant" && isThinking(block)) {
    if (!isReadable(block, message, wire))
      tell("thinkingSignature", index, "Thinking has no signature this model can verify.");
    else if (hasForeignProof(block, wire) && !reader.reads(message))
      tell("thinkingForeign", index, "Another model, provider or account signed this thinking.");
  } else if (role === "assistant" && isToolCall(block)) explainCall(block, index, wire, tell);
  else if (role === "assistant" && typeOf(block) === "provider") {
    if (!reader.owns(block, message))
      tell("block", index, "Only another route understands this block.");
  } else if (role !== "user" || !isEmbeddedResult(block))
    tell("block", index, `A ${role} message cannot hold this kind of block.`);
}

function explainCall(call: StoredBlock, index: number, wire: WireRules, tell: Tell): void {
  if (!wire.ids.test(String(call.id)))
    tell("callId", index, "A tool call has an id the provider does not accept.");
  if (typeof call.name !== "string" || !wire.names.test(call.name))
    tell("callName", index, "A tool call has a name the provider does not accept.");
  if (typeOf(call) !== "toolCall" || !isRecord(call.arguments) || call.partialJson !== undefined)
    tell("callInput", index, "A tool call has no complete arguments.");
}

/** Each assistant's calls must be answered by exactly the results right after it. */
function explainPairs(messages: readonly StoredMessage[], tell: Tell): void {
  let waiting: string[] = [];
  let asked = -1;
  const settle = () => {
    if (waiting.length > 0)
      tell("unanswered", asked, "A tool call has no result right after its message.");
    waiting = [];
  };
  for (const [index, message] of messages.entries()) {
    if (roleOf(message) === "toolResult") {
      const id = typeof message.toolCallId === "string" ? message.toolCallId : resultId(message);
      const at = id === undefined ? -1 : waiting.indexOf(id);
      if (at < 0) tell("orphan", index, "A tool result answers no call right before it.");
      else waiting.splice(at, 1);
      continue;
    }
    settle();
    if (roleOf(message) !== "assistant") continue;
    asked = index;
    waiting = storedBlocks(message)
      .filter(isToolCallLike)
      .map(({ id }) => String(id));
  }
  settle();
}

/**
 * Who speaks first, last and after whom; roles that are rendered as a user count as one, and may
 * stand beside one.
 */
function explainOrder(messages: readonly StoredMessage[], wire: WireRules, tell: Tell): void {
  const spoken = messages.flatMap((message, index) =>
    isKnownRole(message) && message.excludeFromContext !== true
      ? [{ role: roleOf(message), index }]
      : [],
  );
  const [first] = spoken;
  const last = spoken.at(-1);
  if (wire.startsWithUser && first?.role === "assistant")
    tell("firstUser", first.index, "The history starts with an assistant.");
  if (!wire.endsWithAssistant && last?.role === "assistant")
    tell(
      "lastUser",
      last.index,
      "The history ends with an answer, which the model would go on with.",
    );
  const alternating =
    wire.alternates === "everybody"
      ? ["assistant", "user"]
      : wire.alternates === "assistants"
        ? ["assistant"]
        : [];
  for (const [position, { role, index }] of spoken.entries())
    if (role !== undefined && alternating.includes(role) && spoken[position - 1]?.role === role)
      tell("alternate", index, `Two ${role} messages stand in a row.`);
}

function explainIds(messages: readonly StoredMessage[], tell: Tell): void {
  const seen = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (roleOf(message) !== "assistant") continue;
    for (const block of storedBlocks(message).filter(isToolCall)) {
      const id = String(block.id);
      if (seen.has(id)) tell("callIdUnique", index, "A tool call has the id of an earlier one.");
      seen.add(id);
    }
  }
}

/**
 * Items are stored under their ids: each may be sent once, and reasoning only with what it led to.
 */
function explainItems(messages: readonly StoredMessage[], tell: Tell): void {
  const seen = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (roleOf(message) !== "assistant") continue;
    const blocks = storedBlocks(message);
    const ids = blocks.flatMap((block) =>
      isToolCall(block) ? (String(block.id).split("|")[1] ?? []) : (itemId(block) ?? []),
    );
    if (ids.some((id) => seen.has(id)) || new Set(ids).size < ids.length)
      tell("itemRepeated", index, "An item stands in the history twice.");
    for (const id of ids) seen.add(id);
    const lastSpoken = blocks.findLastIndex((block) => !isThinking(block));
    if (blocks.some((block, position) => position > lastSpoken && isReasoningItem(block)))
      tell("itemOrphan", index, "Nothing follows a reasoning item.");
  }
}
