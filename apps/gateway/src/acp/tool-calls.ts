// How calls of tools read in an editor, from their kinds to what they change.
import { basename, isAbsolute, relative, resolve, sep } from "node:path";
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
  // Of Codex.
  shell: "execute",
  apply_patch: "edit",
  web_search: "fetch",
  // Of Claude Code.
  Bash: "execute",
  Read: "read",
  Edit: "edit",
  MultiEdit: "edit",
  Write: "edit",
  NotebookEdit: "edit",
  Glob: "search",
  Grep: "search",
  LS: "search",
  WebFetch: "fetch",
  WebSearch: "fetch",
  Task: "think",
};

const MAX_TITLE = 160;

const Read = z.object({ path: z.string(), from_line: z.number().optional() });
const Write = z.object({ path: z.string(), content: z.string() });
const Edit = z.object({ path: z.string(), old_text: z.string(), new_text: z.string() });
const Command = z.object({ command: z.string() });
const Query = z.object({ query: z.string() });
/** Of Claude Code. */
const File = z.object({ file_path: z.string(), offset: z.number().optional() });
const Replaced = z.object({ old_string: z.string(), new_string: z.string() });
const FileEdits = File.extend({ edits: z.array(Replaced) });
const Pattern = z.object({ pattern: z.string(), path: z.string().optional() });
const Address = z.object({ url: z.string() });
const Described = z.object({ description: z.string() });
/** Of Codex. */
const Changes = z.object({
  changes: z.array(z.object({ path: z.string(), diff: z.string().optional() })).min(1),
});

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
    case "Bash":
    case "shell": {
      const { data } = Command.safeParse(given);
      if (data !== undefined) return view(data.command);
      break;
    }
    case "Read": {
      const { data } = File.safeParse(given);
      if (data === undefined) break;
      const { file_path, offset } = data;
      const from = offset === undefined ? "" : ` from line ${offset}`;
      return view(`Read ${near(file_path, place)}${from}`, { locations: at(file_path, offset) });
    }
    case "Write": {
      const { data } = File.extend({ content: z.string() }).safeParse(given);
      if (data === undefined) break;
      const { file_path, content } = data;
      const diffs = diff(file_path, place.textOf(resolve(place.cwd, file_path)), content);
      return view(`Write ${near(file_path, place)}`, { locations: at(file_path), diffs });
    }
    case "Edit":
    case "MultiEdit": {
      const one = File.extend(Replaced.shape).safeParse(given).data;
      const data = one === undefined ? FileEdits.safeParse(given).data : { ...one, edits: [one] };
      if (data === undefined) break;
      const { file_path, edits } = data;
      const diffs = edits.flatMap((each) => diff(file_path, each.old_string, each.new_string));
      return view(`Edit ${near(file_path, place)}`, { locations: at(file_path), diffs });
    }
    case "apply_patch": {
      const { data } = Changes.safeParse(given);
      if (data === undefined) break;
      const paths = data.changes.map(({ path }) => path);
      return view(`Edit ${paths.map((path) => near(path, place)).join(", ")}`, {
        locations: paths.flatMap((path) => at(path)),
        // Each is a diff already, and an editor shows one from two texts.
        diffs: data.changes.flatMap((each) => resultContent(each.diff ?? "")),
      });
    }
    case "Glob":
    case "Grep": {
      const { data } = Pattern.safeParse(given);
      if (data === undefined) break;
      const { pattern, path } = data;
      return view(`${name} ${pattern}`, path === undefined ? {} : { locations: at(path) });
    }
    case "WebFetch": {
      const { data } = Address.safeParse(given);
      if (data !== undefined) return view(`Fetch ${data.url}`);
      break;
    }
    case "Task": {
      const { data } = Described.safeParse(given);
      if (data !== undefined) return view(`Task: ${data.description}`);
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

/** Pure. As tools name a file of the workspace. */
function near(path: string, { cwd }: Pick<CallPlace, "cwd">): string {
  const way = relative(cwd, resolve(cwd, path));
  return way === "" || way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way) ? path : way;
}

/** Pure. "list_files" reads as "List files", "mcp__files__read_text" as "files: read text". */
function words(name: string): string {
  const ofServer = /^mcp__(.+?)__(.+)$/.exec(name);
  if (ofServer !== null) return `${ofServer[1]}: ${ofServer[2]!.replace(/[_-]+/g, " ").trim()}`;
  const text = name.replaceAll("_", " ").trim();
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Pure. The text of a result, as an editor shows it. */
export const resultContent = (text: string): ToolCallContent[] =>
  text === "" ? [] : [{ type: "content", content: { type: "text", text } }];
