// Makes messages of what lossless-claw stored of them.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ClawMessage, ClawPart } from "../../store/lossless-claw/source.ts";

/** A message, and what of it is no longer as it was told. */
export interface CarriedMessage {
  readonly message: AgentMessage;
  /** Parts of a kind that no message has: they are texts now. */
  readonly rewritten: number;
  /** Texts and pictures that had been moved to files which are not there. */
  readonly missing: readonly string[];
}

/** What a file holds. Undefined: it is not there, or not what was written. */
export type FileContents = (id: string) => { text: string } | { image: Block } | undefined;

type Block = Readonly<Record<string, unknown>> & { readonly type: string };

/** Pure but for `contents`. */
export function messageOf(stored: ClawMessage, contents: FileContents): CarriedMessage {
  const blocks: Block[] = [];
  const missing: string[] = [];
  let rewritten = 0;
  const role = roleOf(stored);
  for (const part of stored.parts) {
    const moved = movedIds(part).map((id) => ({ id, found: contents(id) }));
    missing.push(...moved.flatMap(({ id, found }) => (found === undefined ? [id] : [])));
    const whole = wholePart(part, moved[0]?.found);
    const block = whole ?? blockOf(part, role);
    if (block === undefined) {
      rewritten++;
      blocks.push(textBlock(part.text ?? JSON.stringify(part.metadata)));
    } else blocks.push(block);
    // A reference stays where its text was a part of another one, and the text follows.
    if (whole === undefined)
      for (const { found } of moved)
        if (found !== undefined) blocks.push("text" in found ? textBlock(found.text) : found.image);
  }
  if (stored.parts.length === 0 && stored.content !== "") blocks.push(textBlock(stored.content));
  const timestamp = stored.time === null ? {} : { timestamp: stored.time };
  return {
    message: { ...shapeOf(role, blocks, stored), ...timestamp } as AgentMessage,
    rewritten,
    missing,
  };
}

type Role = "user" | "assistant" | "toolResult" | "system";

const ROLES: ReadonlyMap<unknown, Role> = new Map<unknown, Role>([
  ["user", "user"],
  ["assistant", "assistant"],
  ["tool", "toolResult"],
  ["toolResult", "toolResult"],
  ["system", "system"],
]);

/** Rows know four roles; the parts say what the message's own was. */
function roleOf({ role, parts }: ClawMessage): Role {
  const told = parts
    .map(({ metadata }) => metadata.originalRole)
    .find((each) => each !== undefined);
  return ROLES.get(told) ?? ROLES.get(role) ?? "user";
}

function shapeOf(role: Role, blocks: readonly Block[], { parts }: ClawMessage): object {
  switch (role) {
    case "user": {
      const [only, ...others] = blocks;
      const isText = only?.type === "text" && others.length === 0;
      return { role, content: isText ? only.text : blocks };
    }
    case "assistant":
      return { role, content: blocks };
    case "toolResult": {
      const first = (of: (part: ClawPart) => unknown) =>
        parts.map(of).find((value) => value !== undefined && value !== null);
      return {
        ...{ role, content: blocks },
        toolCallId: String(first((part) => part.toolCallId ?? part.metadata.toolCallId) ?? ""),
        toolName: String(first((part) => part.toolName ?? part.metadata.toolName) ?? ""),
        isError: first((part) => part.metadata.isError ?? rawOf(part)?.is_error) === true,
      };
    }
    case "system":
      return {
        role: "custom",
        customType: "lossless-claw.system",
        content: blocks,
        display: false,
      };
  }
}

/** Undefined: no message has a block like that. */
function blockOf(part: ClawPart, role: Role): Block | undefined {
  const raw = rawOf(part);
  const kind = String(raw?.type ?? part.metadata.rawType ?? "");
  if (CALLS.has(kind) || (part.type === "tool" && role === "assistant")) return callOf(part, raw);
  if (RESULTS.has(kind) || (part.type === "tool" && role === "toolResult"))
    return raw !== undefined && KNOWN.has(kind) ? raw : textBlock(resultText(part, raw));
  if (raw !== undefined && KNOWN.has(kind)) return raw;
  if (part.type === "text" && part.text !== null) return textBlock(part.text);
  if (part.type === "text" && raw === undefined) return textBlock("");
  if (part.type === "reasoning" && role === "assistant")
    return { type: "thinking", thinking: part.text ?? "" };
  return undefined;
}

/** Blocks that messages have as they are. */
const KNOWN: ReadonlySet<string> = new Set(["text", "thinking", "image"]);
const CALLS: ReadonlySet<string> = new Set([
  ...["toolCall", "tool_use", "tool-use", "toolUse", "functionCall", "function_call"],
]);
const RESULTS: ReadonlySet<string> = new Set(["toolResult", "tool_result", "function_call_output"]);

function callOf(part: ClawPart, raw: Block | undefined): Block {
  if (raw?.type === "toolCall") return raw;
  const id = raw?.id ?? raw?.call_id ?? part.toolCallId ?? part.metadata.toolCallId ?? "";
  const name = raw?.name ?? part.toolName ?? part.metadata.toolName ?? "";
  const given = raw?.arguments ?? raw?.input ?? part.toolInput ?? {};
  return { type: "toolCall", id: String(id), name: String(name), arguments: jsonOr(given) };
}

function resultText(part: ClawPart, raw: Block | undefined): string {
  const output = part.toolOutput === null ? undefined : jsonOr(part.toolOutput);
  return textIn(output ?? raw?.output ?? raw?.content ?? part.text ?? "");
}

/** Texts one below the other. */
function textIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return JSON.stringify(value);
  return value
    .map((each: unknown) => {
      const { text } = (each ?? {}) as { text?: unknown };
      return typeof text === "string" ? text : JSON.stringify(each);
    })
    .join("\n");
}

/** JSON where it is some. */
function jsonOr(given: unknown): unknown {
  if (typeof given !== "string") return given;
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}

/** What the part is, where all of it was moved to a file that is there. */
function wholePart(part: ClawPart, found: ReturnType<FileContents>): Block | undefined {
  const { toolOutputExternalized, imageExternalized, externalizationReason } = part.metadata;
  if (found === undefined) return undefined;
  if ("image" in found) return imageExternalized === true ? found.image : undefined;
  const isWhole = toolOutputExternalized === true || externalizationReason === "large_raw_payload";
  return isWhole ? textBlock(found.text) : undefined;
}

/** Ids of the files that hold what was moved out of the part. */
function movedIds({ metadata }: ClawPart): string[] {
  const { externalizedFileId, externalizedFileIds } = metadata;
  const many = Array.isArray(externalizedFileIds) ? externalizedFileIds : [];
  return [...new Set([externalizedFileId, ...many])].filter((id) => typeof id === "string");
}

function rawOf({ metadata: { raw } }: ClawPart): Block | undefined {
  const isBlock = typeof raw === "object" && raw !== null && "type" in raw;
  return isBlock && typeof raw.type === "string" ? (raw as Block) : undefined;
}

const textBlock = (text: string): Block => ({ type: "text", text });
