// The built-in tools, which search and read text files of the workspace.
import type { HostSession } from "@clew/engine-core";
import { z } from "zod";
import { defineTool, type Tool, ToolRefusal } from "./tool.ts";
import { readText, resolveInside, walkFiles, workspaceRoot } from "./workspace-files.ts";

const MAX_OUTPUT_CHARS = 16_000;
const MAX_LINE_CHARS = 400;
const MAX_HITS = 40;
const MAX_SEARCHED_FILES = 5000;
const MAX_FILE_BYTES = 1024 * 1024;

/** `workspaceOf` names the folder of a session's agent; it need not exist. */
export function workspaceTools(workspaceOf: (session: HostSession) => string): Tool[] {
  const rootOf = (session: HostSession) => {
    const root = workspaceRoot(workspaceOf(session));
    if (root === undefined) throw new ToolRefusal("There is no workspace folder.");
    return root;
  };
  const isAvailable = (session: HostSession) => workspaceRoot(workspaceOf(session)) !== undefined;
  return [
    defineTool({
      name: "search_workspace",
      description:
        "Searches the text files of the workspace folder and returns the lines that match best, as path:line: text.",
      parameters: z.object({
        query: z.string().min(1).describe("Words to look for; case does not matter."),
      }),
      readOnly: true,
      isAvailable,
      run: ({ query }, { session, signal }) => search(rootOf(session), query, signal),
    }),
    defineTool({
      name: "read_file",
      description: "Returns a text file of the workspace folder, optionally from a given line.",
      parameters: z.object({
        path: z.string().min(1).describe("Path inside the workspace."),
        from_line: z.number().int().positive().optional().describe("First line, counted from 1."),
      }),
      readOnly: true,
      isAvailable,
      run: ({ path, from_line }, { session }) => read(rootOf(session), path, from_line ?? 1),
    }),
  ];
}

interface Hit {
  score: number;
  text: string;
}

async function search(root: string, query: string, signal: AbortSignal): Promise<string> {
  const words = [
    ...new Set(query.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? [query.toLowerCase()]),
  ];
  let hits: Hit[] = [];
  let found = 0;
  let files = 0;
  for await (const path of walkFiles(root, signal)) {
    if (++files > MAX_SEARCHED_FILES) break;
    const file = await readText(await resolveInside(root, path), MAX_FILE_BYTES).catch(
      () => undefined,
    );
    signal.throwIfAborted();
    if (file === undefined) continue;
    for (const [index, line] of file.text.split("\n").entries()) {
      const score = scoreLine(line.toLowerCase(), query.toLowerCase(), words);
      if (score === 0) continue;
      found++;
      hits.push({ score, text: `${path}:${index + 1}: ${line.trim().slice(0, MAX_LINE_CHARS)}` });
      if (hits.length > MAX_HITS * 50) hits = bestOf(hits);
    }
  }
  if (found === 0) return `No line of the workspace matches "${query}".`;
  const best = bestOf(hits);
  const rest = found > best.length ? [`… and ${found - best.length} weaker matches.`] : [];
  return cut([...best.map(({ text }) => text), ...rest].join("\n"));
}

function bestOf(hits: readonly Hit[]): Hit[] {
  return hits.toSorted((a, b) => b.score - a.score).slice(0, MAX_HITS);
}

/** Words found, and more than all of them when the whole query is there as it stands. */
function scoreLine(line: string, query: string, words: readonly string[]): number {
  const found = words.filter((word) => line.includes(word)).length;
  return line.includes(query) ? words.length + 1 : found;
}

async function read(root: string, path: string, fromLine: number): Promise<string> {
  const file = await readText(await resolveInside(root, path), MAX_FILE_BYTES);
  if (file === undefined) throw new ToolRefusal(`"${path}" is not a text file.`);
  const lines = file.text.split("\n");
  if (fromLine > lines.length) throw new ToolRefusal(`"${path}" has only ${lines.length} lines.`);
  const text = lines.slice(fromLine - 1).join("\n");
  const shown = cut(text);
  const next = fromLine + Math.max(1, shown.split("\n").length - 1);
  if (shown.length < text.length) return `${shown}\n… cut; continue with from_line ${next}.`;
  return file.size > MAX_FILE_BYTES
    ? `${shown}\n… cut: the file has ${file.size} bytes, of which the first ${MAX_FILE_BYTES} can be read.`
    : shown;
}

function cut(text: string): string {
  return text.length <= MAX_OUTPUT_CHARS ? text : text.slice(0, MAX_OUTPUT_CHARS);
}
