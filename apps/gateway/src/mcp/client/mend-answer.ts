// Leaves out of a server's answer the parts for which all of it would be refused.
import { isRecord } from "@clew/plugin-sdk/host";
import type { isSpecType as SpecTypes } from "@modelcontextprotocol/client";
import { notShown } from "./tool-result.ts";

export interface MendedAnswer<Message> {
  message: Message;
  /** Tools that are left out, each with why. */
  left: readonly string[];
}

type Guards = Pick<typeof SpecTypes, "Tool" | "ContentBlock">;

/**
 * Pure. The same message where nothing is wrong with it. `takesAnyData`: data that is no object is
 * no reason to refuse a result.
 */
export function mendAnswer<Message>(
  message: Message,
  is: Guards,
  takesAnyData: boolean,
): MendedAnswer<Message> {
  const { result } = (isRecord(message) ? message : {}) as { result?: unknown };
  if (!isRecord(result)) return { message, left: [] };
  const { tools, content } = result;
  if (Array.isArray(tools)) {
    const good = tools.filter((tool) => is.Tool(tool));
    if (good.length === tools.length) return { message, left: [] };
    const left = tools.filter((tool) => !is.Tool(tool)).map(describeBadTool);
    return { message: { ...message, result: { ...result, tools: good } }, left };
  }
  if (!Array.isArray(content)) return { message, left: [] };
  const isGood = (block: unknown) => isPlainText(block) || is.ContentBlock(block);
  const { structuredContent: data, ...rest } = result;
  const isData = takesAnyData || data === undefined || isRecord(data);
  if (isData && content.every(isGood)) return { message, left: [] };
  const shown = content.map((block) => (isGood(block) ? block : notShown(block)));
  const text = { type: "text", text: JSON.stringify(data) };
  const mended = isData ? { ...result, content: shown } : { ...rest, content: [...shown, text] };
  return { message: { ...message, result: mended }, left: [] };
}

/** Most blocks are, and a long one takes its time to be looked at in full. */
const isPlainText = (block: unknown): boolean =>
  isRecord(block) &&
  block.type === "text" &&
  typeof block.text === "string" &&
  block.annotations === undefined &&
  block._meta === undefined;

function describeBadTool(tool: unknown): string {
  const { name, inputSchema } = isRecord(tool) ? tool : {};
  if (typeof name !== "string" || name === "") return "a tool without a name";
  const what = JSON.stringify(name.length > 64 ? `${name.slice(0, 63)}…` : name);
  if (inputSchema === undefined) return `${what}, which does not say its arguments (inputSchema)`;
  const isObject = isRecord(inputSchema) && inputSchema.type === "object";
  if (!isObject) return `${what}, whose arguments are no object (inputSchema)`;
  return `${what}, which is not described as the protocol says`;
}
