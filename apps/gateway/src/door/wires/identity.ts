// The form in which a message is the same however its client writes it this time.
import { isRecord } from "@clew/plugin-sdk/host";
import type { JsonObject } from "./door-wire.ts";

/** Of a message or an item: what clients add, drop or fill in between two requests. */
const PASSING = new Set([
  "id",
  "status",
  "output_config",
  "refusal",
  "reasoning",
  "reasoning_content",
  "reasoning_details",
]);
/** At any depth. */
const NOWHERE = new Set(["cache_control", "thoughtSignature"]);
/** Where a message keeps its blocks; a text there is one block. */
const CONTENTS = new Set(["content", "parts", "output"]);
const TEXT_TYPES = new Set(["text", "input_text", "output_text"]);

/**
 * What a message is recognised by: without markers, ids of items and thinking; a text as one block,
 * and no content as an empty list. Two messages have the same text here exactly if they are the
 * same, whichever way their letters are composed. Null for a message that is thinking alone.
 */
export function identityOf(message: JsonObject): string | null {
  if (message.type === "reasoning") return null;
  const names = Object.keys(message).filter(
    (name) => !PASSING.has(name) && !isNoMember(message, name),
  );
  if (message.role !== undefined && message.content === undefined && message.parts === undefined)
    names.push("content");
  let text = "";
  for (const name of names.sort())
    text += write(name) + (CONTENTS.has(name) ? writeBlocks(message[name]) : write(message[name]));
  return text;
}

export const isThinking = (block: unknown): boolean =>
  isRecord(block) &&
  (block.type === "thinking" || block.type === "redacted_thinking" || block.thought === true);

/** A Responses message may say that it is one, or not. */
const isNoMember = (message: JsonObject, name: string): boolean =>
  NOWHERE.has(name) ||
  message[name] === undefined ||
  (name === "type" && message.type === "message");

function writeBlocks(value: unknown): string {
  if (value === null || value === undefined || value === "") return "[]";
  if (typeof value === "string") return `[${writeText(value)}]`;
  if (!Array.isArray(value)) return write(value);
  let text = "[";
  for (const block of value) if (!isThinking(block) && !isBlank(block)) text += write(block);
  return `${text}]`;
}

const writeText = (text: string): string =>
  `{${write("text")}${write(text)}${write("type")}${write("text")}}`;

const isBlank = (block: unknown): boolean => isRecord(block) && block.text === "";

/** Texts with their lengths, so that none can pass for something else; members in order. */
function write(value: unknown): string {
  if (typeof value === "string") {
    const text = value.normalize();
    return `${text.length}:${text}`;
  }
  if (Array.isArray(value)) {
    let text = "[";
    for (const item of value) text += write(item);
    return `${text}]`;
  }
  if (!isRecord(value)) return `${String(value)};`;
  // Google's parts have no type; every other text block is of one of three.
  const isText = typeof value.text === "string" && TEXT_TYPES.has(String(value.type ?? "text"));
  const names = Object.keys(value).filter(
    (name) => !NOWHERE.has(name) && value[name] !== undefined,
  );
  if (isText && value.type === undefined) names.push("type");
  let text = "{";
  for (const name of names.sort()) {
    const member = name === "type" && isText ? "text" : value[name];
    text += write(name) + (name === "content" ? writeBlocks(member) : write(member));
  }
  return `${text}}`;
}
