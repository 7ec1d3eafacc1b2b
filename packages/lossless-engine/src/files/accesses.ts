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
  /** True: it asks for a part of the file. */
  readonly isPart: boolean;
  /** True: it changes the file, and its result is not what the file says. */
  readonly changes: boolean;
}

const PATH_KEYS = ["path", "file_path", "filePath", "filename", "file", "notebook_path"] as const;
const TEXT_KEYS = ["content", "file_text", "text", "contents"] as const;
const PART_KEYS = /^(?:offset|limit|line|lines|range|view_range|(?:start|end|from|to)_?line)$/i;
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

const firstText = (given: Record<string, unknown>, keys: readonly string[]) =>
  keys.map((key) => given[key]).find((value): value is string => typeof value === "string");
