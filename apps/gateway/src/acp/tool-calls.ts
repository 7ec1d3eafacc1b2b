// How calls of tools read in an editor, from their kinds to what they change.
import { basename, resolve } from "node:path";
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { headOf } from "@clew/plugin-sdk/transcript";
import { z } from "zod";
import { visible } from "../text/visible.ts";

export interface CallView {
  title: string;
  kind: ToolKind;
  locations: ToolCallLocation[];
  /** What the call would change. */
  diffs: ToolCallContent[];
}

export interface CallPlace {
  /** Absolute. */
  cwd: string;
  /** The text of a file as it is before the call; null = there is none, or it is not shown. */
  textOf(path: string): string | null;
}

const KINDS: Readonly<Record<string, ToolKind>> = {
  read_file: "read",
  list_files: "search",
  search_workspace: "search",
  write_file: "edit",
  edit_file: "edit",
  run_command: "execute",
  session_search: "search",
  session_read: "read",
  memory_search: "search",
  memory_get: "read",
};

const MAX_TITLE = 160;

const Read = z.object({ path: z.string(), from_line: z.number().optional() });
const Write = z.object({ path: z.string(), content: z.string() });
const Edit = z.object({ path: z.string(), old_text: z.string(), new_text: z.string() });
const Command = z.object({ command: z.string() });
const Query = z.object({ query: z.string() });

/** Pure but for `textOf`. */
export function viewCall(
  { name, arguments: given }: { name: string; arguments: unknown },
  place: CallPlace,
): CallView {
  const view = (title: string, more: Partial<CallView> = {}): CallView => ({
    title: headOf(visible(title), MAX_TITLE),
    kind: KINDS[name] ?? "other",
    ...{ locations: [], diffs: [] },
    ...more,
  });
  const at = (path: string, line?: number): ToolCallLocation[] => [
    { path: resolve(place.cwd, path), ...(line !== undefined && { line }) },
  ];
  const diff = (path: string, oldText: string | null, newText: string): ToolCallContent[] => [
    { type: "diff", path: resolve(place.cwd, path), oldText, newText },
  ];
  switch (name) {
    case "read_file": {
      const { data } = Read.safeParse(given);
      if (data === undefined) break;
      const { path, from_line } = data;
      const from = from_line === undefined ? "" : ` from line ${from_line}`;
      return view(`Read ${path}${from}`, { locations: at(path, from_line) });
    }
    case "write_file": {
      const { data } = Write.safeParse(given);
      if (data === undefined) break;
      const { path, content } = data;
      const diffs = diff(path, place.textOf(resolve(place.cwd, path)), content);
      return view(`Write ${path}`, { locations: at(path), diffs });
    }
    case "edit_file": {
      const { data } = Edit.safeParse(given);
      if (data === undefined) break;
      const { path, old_text, new_text } = data;
      const diffs = diff(path, old_text, new_text);
      return view(`Edit ${path}`, { locations: at(path), diffs });
    }
    case "run_command": {
      const { data } = Command.safeParse(given);
      if (data !== undefined) return view(data.command);
      break;
    }
    default: {
      const { data } = Query.safeParse(given);
      if (data !== undefined) return view(`${words(name)}: ${data.query}`);
    }
  }
  const { path } = z.object({ path: z.string() }).safeParse(given).data ?? {};
  return path === undefined
    ? view(words(name))
    : view(`${words(name)} ${basename(path)}`, { locations: at(path) });
}

/** Pure. "list_files" reads as "List files". */
function words(name: string): string {
  const text = name.replaceAll("_", " ").trim();
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Pure. The text of a result, as an editor shows it. */
export const resultContent = (text: string): ToolCallContent[] =>
  text === "" ? [] : [{ type: "content", content: { type: "text", text } }];
