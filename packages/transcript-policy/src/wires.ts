// What each wire rejects in a list of messages.
import type { WireName } from "@clew/plugin-sdk/host";
import { isClaude, isRoutedToMessages } from "./model-names.ts";
import type { ToolCallIdMode } from "./policies.ts";
import { type Route, wireOf } from "./route.ts";

/** A way in which messages can be unacceptable, whichever wire names it how. */
export type Fault =
  | "role"
  | "content"
  | "contentEmpty"
  | "block"
  | "textBlank"
  | "surrogate"
  | "image"
  | "firstUser"
  | "lastUser"
  | "alternate"
  | "callId"
  | "callIdUnique"
  | "callName"
  | "callInput"
  | "unanswered"
  | "orphan"
  | "itemOrphan"
  | "itemRepeated"
  | "thinkingSignature"
  | "thinkingEnd";

/** What one wire takes in a list of messages. */
export interface WireRules {
  /** Legal tool-call ids. */
  ids: RegExp;
  /** How an illegal or repeated id is replaced. */
  idMode: ToolCallIdMode | "responses";
  /** Legal tool names. */
  names: RegExp;
  /** True: an assistant may not speak first. */
  startsWithUser: boolean;
  /** False: an answer at the end would be taken for the start of the next one. */
  endsWithAssistant: boolean;
  /** Who may not follow themselves. */
  alternates: "nobody" | "assistants" | "everybody";
  /**
   * "signed": thinking needs a signature of this wire and may not end a message; "none": the model
   * reads no thinking.
   */
  thinking: "any" | "signed" | "none";
  /** Types, bytes after decoding and pixels of the longer side. */
  images: { mimeTypes?: ReadonlySet<string>; maxBytes: number; maxSide: number };
  /**
   * What the wire's own rules are called (spec "provider-wire"); a fault without a name here is
   * called by ours.
   */
  ruleNames: Partial<Record<Fault, string>>;
}

const MEGABYTE = 1024 * 1024;
const PLAIN_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const NO_IMAGE_LIMIT = { maxBytes: 20 * MEGABYTE, maxSide: Number.POSITIVE_INFINITY };
const FOUR_KINDS: ReadonlySet<string> = new Set([
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
]);

const ANY_WIRE: WireRules = {
  ids: /^.+$/s,
  idMode: "strict",
  names: /^[A-Za-z0-9_:.-]{1,64}$/,
  startsWithUser: false,
  endsWithAssistant: true,
  alternates: "nobody",
  thinking: "any",
  images: NO_IMAGE_LIMIT,
  ruleNames: {},
};

const MESSAGES_WIRE: WireRules = {
  ...ANY_WIRE,
  ids: /^[A-Za-z0-9_-]{1,64}$/,
  names: PLAIN_NAME,
  startsWithUser: true,
  endsWithAssistant: false,
  alternates: "everybody",
  thinking: "signed",
  images: { mimeTypes: FOUR_KINDS, maxBytes: 5 * MEGABYTE, maxSide: 8000 },
  ruleNames: {
    role: "role.invalid",
    content: "content.type",
    contentEmpty: "content.empty",
    block: "block.type",
    textBlank: "text.whitespace",
    surrogate: "unicode.surrogate",
    image: "image.source",
    firstUser: "first.user",
    lastUser: "prefill.model",
    alternate: "roles.alternate",
    callId: "tool_use.id",
    callIdUnique: "tool_use.unique",
    callName: "tool_use.name",
    callInput: "tool_use.input",
    unanswered: "tool_use.unanswered",
    orphan: "tool_result.orphan",
    thinkingSignature: "thinking.signature",
    thinkingEnd: "thinking.must_not_end",
  },
};

const CONVERSE_WIRE: WireRules = {
  ...MESSAGES_WIRE,
  images: { mimeTypes: FOUR_KINDS, maxBytes: 3.75 * MEGABYTE, maxSide: 8000 },
  ruleNames: {
    role: "role.invalid",
    content: "block.union",
    contentEmpty: "content.empty",
    block: "block.union",
    textBlank: "text.blank",
    surrogate: "unicode.surrogate",
    image: "image.shape",
    firstUser: "first.user",
    lastUser: "last.user",
    alternate: "roles.alternate",
    callId: "toolUse.id",
    callIdUnique: "toolUse.duplicate",
    callName: "toolUse.name",
    callInput: "toolUse.input",
    unanswered: "toolUse.unanswered",
    orphan: "toolResult.extra",
    thinkingSignature: "reasoning.signature",
    thinkingEnd: "reasoning.must_not_end",
  },
};

const CHAT_WIRE: WireRules = {
  ...ANY_WIRE,
  // 64 in newer reports, 40 in older ones and on compatible servers.
  ids: /^.{1,40}$/s,
  names: PLAIN_NAME,
  ruleNames: {
    role: "role.invalid",
    content: "content.type",
    contentEmpty: "content.empty_array",
    block: "part.type",
    textBlank: "content.blank_assistant",
    surrogate: "unicode.surrogate",
    image: "part.image",
    callId: "tool_calls.id_length40",
    callIdUnique: "tool_calls.id_duplicate",
    callName: "tool_calls.name",
    callInput: "tool_calls.arguments_json",
    unanswered: "tool.missing",
    orphan: "tool.orphan",
  },
};

const RESPONSES_WIRE: WireRules = {
  ...ANY_WIRE,
  ids: /^call_[A-Za-z0-9_-]{1,59}(?:\|fc_[A-Za-z0-9_-]{1,61})?$/,
  idMode: "responses",
  names: PLAIN_NAME,
  ruleNames: {
    role: "message.role",
    content: "message.content",
    contentEmpty: "message.content_empty",
    block: "part.type",
    surrogate: "unicode.surrogate",
    image: "part.image",
    callId: "call_id.length",
    callIdUnique: "call_id.duplicate",
    callName: "function_call.name",
    callInput: "function_call.arguments_json",
    unanswered: "function_call.unanswered",
    orphan: "output.orphan",
    itemOrphan: "reasoning.orphan",
    itemRepeated: "id.duplicate",
  },
};

const GEMINI_WIRE: WireRules = {
  ...ANY_WIRE,
  names: /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/,
  startsWithUser: true,
  endsWithAssistant: false,
  alternates: "assistants",
  ruleNames: {
    role: "role.invalid",
    contentEmpty: "parts.empty",
    block: "part.data",
    surrogate: "unicode.surrogate",
    image: "inline.base64",
    firstUser: "first.user",
    lastUser: "last.model",
    alternate: "roles.alternate",
    callName: "call.name",
    callInput: "call.args",
    unanswered: "response.count",
    orphan: "response.position",
  },
};

const MISTRAL_WIRE: WireRules = {
  ...ANY_WIRE,
  ids: /^[A-Za-z0-9]{9}$/,
  idMode: "strict9",
  names: PLAIN_NAME,
  endsWithAssistant: false,
  ruleNames: {
    role: "role.invalid",
    content: "content.type",
    contentEmpty: "assistant.empty",
    block: "chunk.type",
    surrogate: "unicode.surrogate",
    lastUser: "last",
    callId: "tool_call.id",
    callIdUnique: "tool_call.duplicate",
    callName: "function.name",
    callInput: "function.arguments",
    unanswered: "counts",
    orphan: "tool.unexpected",
  },
};

const WIRES: Readonly<Record<WireName, WireRules>> = {
  messages: MESSAGES_WIRE,
  converse: CONVERSE_WIRE,
  chat: CHAT_WIRE,
  responses: RESPONSES_WIRE,
  gemini: GEMINI_WIRE,
  mistral: MISTRAL_WIRE,
  ollama: ANY_WIRE,
  antigravity: ANY_WIRE,
  offline: ANY_WIRE,
};

/** The rules of a route's wire; an unknown api gets those every api shares. */
export function wireRules({ modelApi, modelId }: Pick<Route, "modelApi" | "modelId">): WireRules {
  const wire = wireOf(modelApi);
  if (wire === undefined) return ANY_WIRE;
  const rules = WIRES[wire];
  const model = modelId.toLowerCase();
  // Converse serves models of many makers; only one of them reads signed thinking back.
  if (wire === "converse" && !isClaude(model)) return { ...rules, thinking: "none" };
  // A router hands these on to another wire, with its rules for ids.
  if (wire === "chat" && isRoutedToMessages(model)) return { ...rules, ids: MESSAGES_WIRE.ids };
  return rules;
}
