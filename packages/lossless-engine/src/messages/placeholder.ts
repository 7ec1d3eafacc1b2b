// What stands where a message stood that was forgotten.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { blocksOf } from "@clew/plugin-sdk/transcript";

/** Why a message is not there any more. */
export type Absence = "forgotten" | "expired";

/** What a placeholder says. */
export const ABSENT: Readonly<Record<Absence, string>> = {
  forgotten: "(This was forgotten, as somebody asked.)",
  expired: "(This is no longer kept.)",
};

/** Fields whose texts say what kind of message it is, and nothing that was said. */
const KIND_FIELDS: ReadonlySet<string> = new Set([
  ...["role", "customType", "stopReason", "api", "provider", "model", "toolCallId", "toolName"],
]);

/**
 * Pure. A message of the same role and time, with the same tool calls or the call that it answers,
 * so that pairs and order stay valid; of what was said, given to tools or returned by them nothing.
 */
export function placeholderOf(message: AgentMessage, absence: Absence): AgentMessage {
  const text = ABSENT[absence];
  const fields = Object.entries(message).flatMap(([key, value]): [string, unknown][] => {
    if (key === "content") return [[key, contentFor(message, text)]];
    if (key === "usage") return [[key, value]];
    if (key === "__openclaw") return envelopeOf(message);
    if (key === "summary" || key === "command" || key === "output") return [[key, text]];
    const isKind = KIND_FIELDS.has(key) || typeof value !== "object";
    return isKind && (typeof value !== "string" || KIND_FIELDS.has(key)) ? [[key, value]] : [];
  });
  return Object.fromEntries(fields) as unknown as AgentMessage;
}

function contentFor(message: AgentMessage, text: string): unknown {
  if (message.role === "user" || message.role === "custom") return text;
  if (message.role !== "assistant") return [{ type: "text", text }];
  const calls = blocksOf(message.content).flatMap((block) =>
    block.type === "toolCall"
      ? [{ type: "toolCall", id: block.id, name: block.name, arguments: {} }]
      : [],
  );
  return [{ type: "text", text }, ...calls];
}

/** By whom and whence it came is gone too. */
function envelopeOf(message: AgentMessage): [string, unknown][] {
  const id = messageId(message);
  const kind = message.__openclaw?.kind;
  if (id === undefined && kind === undefined) return [];
  return [["__openclaw", { ...(id !== undefined && { id }), ...(kind !== undefined && { kind }) }]];
}

/** What says of a block only what kind it is. */
const BLOCK_KINDS: ReadonlySet<string> = new Set(["type", "mimeType", "carrier"]);
const ENVELOPE_KEPT: ReadonlySet<string> = new Set(["id", "kind"]);

/** Texts of a message that its placeholder does not keep, but for those that say its kind. */
export function textsGone(message: AgentMessage): string[] {
  return Object.entries(message).flatMap(([key, value]) => {
    if (KIND_FIELDS.has(key)) return [];
    if (key === "__openclaw") return textsIn(fieldsBut(value, ENVELOPE_KEPT));
    if (key !== "content" || !Array.isArray(value)) return textsIn(value);
    return value.flatMap((block) => textsIn(fieldsBut(block, BLOCK_KINDS)));
  });
}

/** The values of an object's other fields; anything else as it is. */
const fieldsBut = (value: unknown, names: ReadonlySet<string>): unknown =>
  typeof value !== "object" || value === null
    ? value
    : Object.entries(value).flatMap(([key, each]) => (names.has(key) ? [] : [each]));

/** Texts that its placeholder keeps, as calls and results are known by them. */
export function namesKept(message: AgentMessage): string[] {
  if (message.role === "toolResult") return textsIn([message.toolCallId, message.toolName]);
  if (message.role !== "assistant") return [];
  return blocksOf(message.content).flatMap((block) =>
    block.type === "toolCall" ? textsIn([block.id, block.name]) : [],
  );
}

/** What a block is known by, and what a provider proves it with. */
const BLOCK_NAMES: ReadonlySet<string> = new Set([
  ...["type", "id", "name", "mimeType", "carrier", "api", "provider", "model", "kind"],
  ...["textSignature", "thinkingSignature", "thoughtSignature"],
]);

/**
 * Pure. What was said, given to tools or returned by them; not what the message, its run or its
 * model is known by, which stands in other messages and files too.
 */
export function wordsOf(message: AgentMessage): string[] {
  const { content, errorMessage, summary, command, output, details } = message as unknown as Record<
    string,
    unknown
  >;
  const said = Array.isArray(content)
    ? content.map((block) => fieldsBut(block, BLOCK_NAMES))
    : content;
  // Of what tools note for themselves a text without a blank may be a name.
  const noted = textsIn(details).filter((text) => /\S\s+\S/.test(text));
  const absent: readonly string[] = Object.values(ABSENT);
  return [...textsIn([said, errorMessage, summary, command, output]), ...noted].filter(
    (text) => !absent.includes(text),
  );
}

/** All texts of a value, keys left out. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
