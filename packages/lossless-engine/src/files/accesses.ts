// What the calls of a message do with files, as far as their arguments say.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { blocksOf } from "@clew/plugin-sdk/transcript";

/** A call that names a file. */
export interface FileAccess {
  readonly callId: string;
  readonly tool: string;
  readonly path: string;
  /** The file's whole text, where the call writes it; null = it does not. */
  readonly written: string | null;
  /** True: it asks for a part of the file, or its result says itself that it is one. */
  readonly isPart: boolean;
  /** True: it changes the file, and its result is not what the file says. */
  readonly changes: boolean;
}

const PATH_KEYS = ["path", "file_path", "filePath", "filename", "file", "notebook_path"] as const;
const TEXT_KEYS = ["content", "file_text", "text", "contents"] as const;
const PART_KEYS =
  /^(?:offset|limit|lines?|(?:view_?)?range|pages?|head|tail|(?:start|end|from|to|first|last|max|num)_?lines?|line_?(?:start|end|from|to|range|count|numbers?)|max_?(?:bytes|chars|characters))$/i;
const EDITING = /edit|replace|patch|insert|append|delete|move|rename|write|create/i;

/** In the order of the calls. */
export function fileAccessesIn(message: AgentMessage): FileAccess[] {
  if (message.role !== "assistant") return [];
  return blocksOf(message.content).flatMap((block): FileAccess[] => {
    if (block.type !== "toolCall" || typeof block.arguments !== "object") return [];
    const given = (block.arguments ?? {}) as Record<string, unknown>;
    const path = firstText(given, PATH_KEYS)?.trim();
    if (path === undefined || path === "") return [];
    const tool = String(block.name);
    // Some tools do all of it, and their first argument says which.
    const changes = EDITING.test(typeof given.command === "string" ? given.command : tool);
    return [
      {
        ...{ callId: String(block.id), tool, path, changes },
        written: (changes ? firstText(given, TEXT_KEYS) : undefined) ?? null,
        isPart: Object.keys(given).some((key) => PART_KEYS.test(key)),
      },
    ];
  });
}

/** Where a tool's word on what it left out stands: behind the text, and short. */
const LAST_CHARS = 300;
const SAYS_CUT = /\b(?:cut|truncat\w*|more lines?|showing lines?)\b/i;
const SAYS_HOW_ON = /\b(?:continue|offset|from_?line|start_?line|view_?range|limit)\b/i;

/** True: its last line says that there is more of the file, and how to read on. */
export function saysCut(text: string): boolean {
  const end = text.slice(-LAST_CHARS).trimEnd();
  const line = end.slice(end.lastIndexOf("\n") + 1);
  return /^\s*(?:…|\.\.\.|[[(<])/.test(line) && SAYS_CUT.test(line) && SAYS_HOW_ON.test(line);
}

const firstText = (given: Record<string, unknown>, keys: readonly string[]) =>
  keys.map((key) => given[key]).find((value): value is string => typeof value === "string");
