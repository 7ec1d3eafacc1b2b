// What each wire rejects in a list of messages.
import type { ModelProfile, WireName } from "@clew/plugin-sdk/host";
import type { ToolCallIdMode } from "./policies.ts";
import { profileOf, type Route, wireOf } from "./route.ts";

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
  | "thinkingForeign"
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
  /** Where thinking stands. */
  carrier: ModelProfile["reasoning"]["carrier"];
  /** Types, bytes after decoding and pixels of the longer side. */
  images: ModelProfile["images"];
  /**
   * What the wire's own rules are called (spec "provider-wire"); a fault without a name here is
   * called by ours.
   */
  ruleNames: Partial<Record<Fault, string>>;
}

/** Names of the wires' own rules. */
const RULE_NAMES: Readonly<Record<WireName, WireRules["ruleNames"]>> = {
  messages: {
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
    thinkingForeign: "signature.foreign",
    thinkingEnd: "thinking.must_not_end",
  },
  converse: {
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
    thinkingForeign: "signature",
    thinkingEnd: "reasoning.must_not_end",
  },
  chat: {
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
  responses: {
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
    thinkingForeign: "encrypted_content",
  },
  gemini: {
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
  mistral: {
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
  ollama: {},
  antigravity: {},
  offline: {},
};

const made = new WeakMap<ModelProfile, WireRules>();

/** The rules of a route's wire; an unknown api gets those every api shares. */
export function wireRules(route: Route): WireRules {
  const profile = profileOf(route);
  const known = made.get(profile);
  if (known !== undefined) return known;
  const wire = wireOf(route.modelApi);
  const { reasoning, calls, turns, images } = profile;
  const signed = reasoning.replay === "strip" ? "none" : "signed";
  const rules: WireRules = {
    ...turns,
    ids: new RegExp(calls.ids),
    idMode: calls.idMode,
    names: new RegExp(calls.names),
    thinking: reasoning.carrier === "signed" ? signed : "any",
    carrier: reasoning.carrier,
    images,
    ruleNames: wire === undefined ? {} : RULE_NAMES[wire],
  };
  made.set(profile, rules);
  return rules;
}
