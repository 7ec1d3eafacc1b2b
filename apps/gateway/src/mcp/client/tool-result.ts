// Turns what a server answers to a call into the result that is stored.
import type { ToolOutcome } from "@clew/engine-core";
import type { ToolResultBlock } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import { describeBytes } from "../../limits/size.ts";

/** Most bytes of one picture, as base64. */
const PICTURE_BYTES = 8 * 1024 * 1024;

/** Pure. What cannot be shown to a model is named; a copy of the text as data is left out. */
export function toOutcome(tool: string, result: unknown): ToolOutcome {
  const { content, structuredContent, isError } = isRecord(result) ? result : {};
  const blocks = Array.isArray(content) ? content.flatMap(blockOf) : [];
  const all = repeats(blocks, structuredContent)
    ? blocks
    : [...blocks, textBlock(JSON.stringify(structuredContent))];
  return {
    content: all.length > 0 ? all : [textBlock(`${tool} gave no result.`)],
    isError: isError === true,
  };
}

const textBlock = (text: string): ToolResultBlock => ({ type: "text", text });

/** True: there is nothing in it, or the text says the same, as JSON or in other words. */
function repeats(blocks: readonly ToolResultBlock[], data: unknown): boolean {
  if (data === undefined || data === null) return true;
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const json = JSON.stringify(data);
  if (texts.some((text) => isSameJson(text, json))) return true;
  const values = valuesIn(data, []);
  return (
    values.length <= MOST_VALUES && values.every((each) => texts.some((text) => holds(text, each)))
  );
}

/** What is short stands in every text somewhere; there it has to be a word. */
const SHORT = 4;
const holds = (text: string, value: string): boolean =>
  value.length >= SHORT ? text.includes(value) : text.split(BETWEEN_WORDS).includes(value);
const BETWEEN_WORDS = /[\s,;:()[\]{}"']+|[.!?](?=\s|$)/;

/** To look for more of them in a long text would take too long. */
const MOST_VALUES = 200;

function valuesIn(data: unknown, found: string[]): string[] {
  if (found.length > MOST_VALUES) return found;
  if (Array.isArray(data)) for (const each of data) valuesIn(each, found);
  else if (isRecord(data)) for (const each of Object.values(data)) valuesIn(each, found);
  else found.push(String(data).trim());
  return found;
}

function isSameJson(text: string, json: string): boolean {
  if (text === json) return true;
  // Whoever says the same takes about as much for it; what is much shorter need not be parsed.
  if (!/^\s*[[{"\d-tfn]/.test(text) || text.length < json.length / 2) return false;
  try {
    return inOrder(JSON.parse(text)) === inOrder(JSON.parse(json));
  } catch {
    return false;
  }
}

/** The same for the same data, however its keys are ordered. */
const inOrder = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) =>
    isRecord(each)
      ? Object.fromEntries(Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );

function blockOf(block: unknown): ToolResultBlock[] {
  if (!isRecord(block)) return [];
  const { type, text, data, mimeType } = block;
  if (type === "text" && typeof text === "string") return [textBlock(text)];
  if (type === "image" && typeof data === "string" && typeof mimeType === "string")
    return data.length <= PICTURE_BYTES
      ? [{ type: "image", data, mimeType }]
      : [leftOut("a picture", mimeType, data)];
  if (type === "audio") return [leftOut("sound", mimeType, data)];
  if (type === "resource") return resource(block.resource);
  if (type === "resource_link") return [textBlock(linkText(block))];
  return [notShown(block)];
}

/** Pure. In place of a block that cannot be shown. */
export function notShown(block: unknown): ToolResultBlock {
  const { type } = isRecord(block) ? block : {};
  const what = typeof type === "string" ? `a block of type ${JSON.stringify(type)}` : "a block";
  return textBlock(`[${what} is not shown]`);
}

function resource(given: unknown): ToolResultBlock[] {
  if (!isRecord(given)) return [];
  const { uri, text, blob, mimeType } = given;
  if (typeof text === "string") return [textBlock(`${String(uri)}\n${text}`)];
  return [leftOut(String(uri), mimeType, blob)];
}

const linkText = ({ uri, name, description }: Record<string, unknown>): string =>
  [String(uri), name, description].filter((each) => typeof each === "string").join(" · ");

function leftOut(what: string, mimeType: unknown, data: unknown): ToolResultBlock {
  const bytes = typeof data === "string" ? Math.floor((data.length * 3) / 4) : 0;
  const kind = typeof mimeType === "string" ? mimeType : "of unknown kind";
  return textBlock(`[${what} is not shown: ${kind}, ${describeBytes(bytes)}]`);
}
