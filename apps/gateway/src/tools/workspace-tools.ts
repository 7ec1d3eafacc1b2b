// The built-in tools, which see and change the workspace.
import { existsSync } from "node:fs";
import { devNull } from "node:os";
import { join, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { HostSession } from "@clew/engine-core";
import { z } from "zod";
import type { ToolsConfig } from "../config/tools.ts";
import { counted, number } from "../text/number.ts";
import { visible } from "../text/visible.ts";
import type { EditorClient, EditorPlace } from "./editor-client.ts";
import { planGlob } from "./glob.ts";
import { describeRun, runCommand } from "./run-command.ts";
import { defineTool, type Tool, ToolRefusal } from "./tool.ts";
import {
  type Bounds,
  type OwnPlaces,
  readText,
  resolveInside,
  type TextOf,
  type Walk,
  walkFiles,
  workspaceRoot,
} from "./workspace-files.ts";
import { edited, placeToWrite, requireFits, type WritePlace, writeText } from "./write-files.ts";

/** Linux takes no longer argument. */
const MAX_COMMAND_BYTES = 128 * 1024 - 1;
const MAX_OUTPUT_CHARS = 16_000;
const MAX_LINE_CHARS = 400;
const MAX_HITS = 40;
const MAX_SEARCHED_FILES = 5000;
const MAX_FILE_BYTES = 1024 * 1024;
/** How long an editor may take for a text before anybody is asked. */
const READ_MS = 10_000;

/** What agents may do in their workspaces, `tools` of the settings. Absent: they only look. */
export interface ToolsAllowed extends Pick<ToolsConfig, "write" | "shell" | "shellTimeoutMs"> {
  /** Variables that commands are given. */
  env: Readonly<Record<string, string | undefined>>;
  own: OwnPlaces;
  /** What is other in a session that an editor holds. Absent: nothing in any. */
  editorOf?(session: HostSession): EditorPlace | undefined;
}

const ONLY_LOOK: ToolsAllowed = {
  ...{ write: "off", shell: "off", shellTimeoutMs: 0, env: {} },
  own: { home: devNull, configFile: devNull },
};

/** `workspaceOf` names the folder of a session's agent; it need not exist. */
export function workspaceTools(
  workspaceOf: (session: HostSession) => string,
  allowed: ToolsAllowed = ONLY_LOOK,
): Tool[] {
  const rootOf = (session: HostSession) => {
    const root = workspaceRoot(workspaceOf(session));
    if (root === undefined) throw new ToolRefusal("There is no workspace folder.");
    return root;
  };
  const boundsOf = (session: HostSession) => ({ root: rootOf(session), own: allowed.own });
  const rulesOf = (session: HostSession) => allowed.editorOf?.(session)?.rules ?? allowed;
  /** Who reads, writes and runs in a session, other than the gateway. */
  const clientOf = (session: HostSession): Client => ({
    folder: workspaceOf(session),
    ...allowed.editorOf?.(session)?.client,
  });
  const writesUnasked = (session: HostSession) => rulesOf(session).write === "allow";
  const mayWrite = (session: HostSession) => rulesOf(session).write !== "off";
  // Asked for each tool in each turn.
  const isAvailable = (session: HostSession) => existsSync(workspaceOf(session));
  return [
    defineTool({
      name: "search_workspace",
      description:
        "Searches the text files of the workspace folder and returns the lines that match best, as path:line: text.",
      parameters: z.object({
        query: z.string().min(1).max(1000).describe("Words to look for; case does not matter."),
      }),
      readOnly: true,
      isAvailable,
      run: ({ query }, { session, signal }) => search(boundsOf(session), query, signal),
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
      run: ({ path, from_line }, { session, signal }) =>
        read(boundsOf(session), path, {
          ...{ fromLine: from_line ?? 1, textOf: textsOf(clientOf(session), signal) },
        }),
    }),
    defineTool({
      name: "list_files",
      description:
        "Lists the files of the workspace folder, optionally only those that a pattern names.",
      parameters: z.object({
        pattern: z.string().min(1).optional().describe('Such as "src/**/*.ts". Default: all.'),
      }),
      readOnly: true,
      isAvailable,
      run: ({ pattern }, { session, signal }) => list(boundsOf(session), pattern, signal),
    }),
    defineTool({
      name: "write_file",
      description: "Writes a text file of the workspace folder, whole; folders are made.",
      parameters: z.object({
        path: z.string().min(1).describe("Path inside the workspace."),
        content: z.string().describe("All of the file's new text."),
      }),
      readOnly: false,
      runsUnasked: writesUnasked,
      isAvailable: (session) => mayWrite(session) && isAvailable(session),
      prepare: async ({ path, content }, session) => {
        requireFits(content);
        return placeToWrite(boundsOf(session), path);
      },
      run: async ({ path, content }, { prepared: place, session, signal }) => {
        await writeIn(clientOf(session), { place, text: content, signal });
        const lines = content === "" ? 0 : content.replace(/\n$/, "").split("\n").length;
        return `${place.found ? "Replaced" : "Made"} ${path} (${counted(lines, "line")}).`;
      },
    }),
    defineTool({
      name: "edit_file",
      description:
        "Replaces a text that stands once in a file of the workspace folder by another, or everywhere with all.",
      parameters: z.object({
        path: z.string().min(1).describe("Path inside the workspace."),
        old_text: z.string().min(1).describe("What stands there, exactly."),
        new_text: z.string().describe("What shall stand there instead."),
        all: z.boolean().optional().describe("Wherever it stands. Default: once only."),
      }),
      readOnly: false,
      runsUnasked: writesUnasked,
      isAvailable: (session) => mayWrite(session) && isAvailable(session),
      prepare: (edit, session) =>
        edited(boundsOf(session), edit, textsOf(clientOf(session), AbortSignal.timeout(READ_MS))),
      run: async ({ path }, { prepared: { place, text, times }, session, signal }) => {
        await writeIn(clientOf(session), { place, text, signal });
        return `Replaced ${counted(times, "place")} in ${path}.`;
      },
    }),
    defineTool({
      name: "run_command",
      description:
        "Runs a command line with /bin/sh in the workspace folder, and returns what it prints and its exit code. What it leaves running in the background is ended with it.",
      parameters: z.object({
        command: z.string().min(1).describe("For /bin/sh; nothing can be typed into it."),
        timeout_seconds: z.number().positive().optional().describe("Default and most: as set."),
      }),
      readOnly: false,
      runsUnasked: (session) => rulesOf(session).shell === "allow",
      grantOf: ({ command }) => command,
      prepare: async ({ command }) => {
        if (command.includes("\0")) throw new ToolRefusal("The command holds a null character.");
        const bytes = Buffer.byteLength(command);
        if (bytes > MAX_COMMAND_BYTES)
          throw new ToolRefusal(
            `The command has ${number(bytes)} bytes, and up to ${number(MAX_COMMAND_BYTES)} can be run; write a script to a file, and run that.`,
          );
      },
      isAvailable: (session) => rulesOf(session).shell !== "off" && isAvailable(session),
      run: async ({ command, timeout_seconds = Infinity }, { session, signal, callId }) => {
        const timeoutMs = Math.min(allowed.shellTimeoutMs, timeout_seconds * 1_000);
        const { env } = allowed;
        const cwd = rootOf(session);
        const client = clientOf(session);
        if (client.run !== undefined) {
          const asked = { line: command, cwd: client.folder, timeoutMs, signal, callId };
          return describeRun(await client.run(asked));
        }
        return describeRun(await runCommand(command, { cwd, env, timeoutMs, signal }));
      },
    }),
  ];
}

/** An editor, and the name that it has for the workspace folder. */
interface Client extends EditorClient {
  folder: string;
}

/** How an editor calls a file of the workspace. */
const nameIn = ({ folder }: Client, root: string, file: string): string =>
  join(folder, relative(root, file));

/** Texts as the editor has them; what it does not give is read from the disk. */
function textsOf(client: Client, signal: AbortSignal): TextOf {
  return async (file, maxBytes, root) => {
    const text = await client
      .readText?.(nameIn(client, root, file), signal)
      .catch(() => signal.throwIfAborted());
    if (typeof text !== "string") return readText(file, maxBytes);
    const bytes = Buffer.from(text);
    const whole = { text, size: bytes.length };
    return bytes.length <= maxBytes
      ? whole
      : { ...whole, text: bytes.subarray(0, maxBytes).toString("utf8") };
  };
}

interface Written {
  place: WritePlace;
  text: string;
  signal: AbortSignal;
}

/** What an editor refuses to write is not written behind its back. Throws ToolRefusal. */
async function writeIn(client: Client, { place, text, signal }: Written): Promise<void> {
  if (client.writeText === undefined) return writeText(place, text, signal);
  const { root, folder, name, path } = place;
  try {
    await client.writeText(nameIn(client, root, join(folder, name)), text, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new ToolRefusal(`The editor did not write "${path}": ${(error as Error).message}`);
  }
}

const MAX_LISTED = 500;
/** Before others have their turn. */
const MAX_BUSY_MS = 20;

async function list(
  bounds: Bounds,
  pattern: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const glob = pattern === undefined ? undefined : planGlob(pattern);
  if (glob !== undefined && "why" in glob) throw new ToolRefusal(glob.why);
  const found: string[] = [];
  let more = 0;
  let since = performance.now();
  const walk = walkFiles(bounds, signal);
  for await (const path of walk.files) {
    if (performance.now() - since > MAX_BUSY_MS) {
      await setImmediate(undefined, { signal });
      since = performance.now();
    }
    if (glob?.matches(path) === false) continue;
    if (found.length < MAX_LISTED) found.push(visible(path));
    else more++;
  }
  const none =
    pattern === undefined
      ? "The workspace holds no files."
      : `No file of the workspace fits "${pattern}".`;
  return [
    ...(found.length === 0 ? [none] : found),
    ...(more > 0 ? [`… and ${more} more; name a narrower pattern.`] : []),
    ...ownLeftOut(walk),
  ].join("\n");
}

const ownLeftOut = (walk: Walk): string[] =>
  walk.passedOwn() ? ["(The gateway's own files are left out.)"] : [];

interface Hit {
  score: number;
  text: string;
}

async function search(bounds: Bounds, query: string, signal: AbortSignal): Promise<string> {
  const words = [
    ...new Set(query.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? [query.toLowerCase()]),
  ];
  let hits: Hit[] = [];
  let found = 0;
  let files = 0;
  const walk = walkFiles(bounds, signal);
  for await (const path of walk.files) {
    if (++files > MAX_SEARCHED_FILES) break;
    const file = await readText(join(bounds.root, path), MAX_FILE_BYTES).catch(() => undefined);
    signal.throwIfAborted();
    if (file === undefined) continue;
    for (const [index, line] of file.text.split("\n").entries()) {
      const score = scoreLine(line.toLowerCase(), query.toLowerCase(), words);
      if (score === 0) continue;
      found++;
      hits.push({
        score,
        text: `${visible(path)}:${index + 1}: ${line.trim().slice(0, MAX_LINE_CHARS)}`,
      });
      if (hits.length > MAX_HITS * 50) hits = bestOf(hits);
    }
  }
  const left = ownLeftOut(walk);
  if (found === 0) return [`No line of the workspace matches "${query}".`, ...left].join("\n");
  const best = bestOf(hits);
  const rest = found > best.length ? [`… and ${found - best.length} weaker matches.`] : [];
  return cut([...best.map(({ text }) => text), ...rest, ...left].join("\n"));
}

function bestOf(hits: readonly Hit[]): Hit[] {
  return hits.toSorted((a, b) => b.score - a.score).slice(0, MAX_HITS);
}

/** Words found, and more than all of them when the whole query is there as it stands. */
function scoreLine(line: string, query: string, words: readonly string[]): number {
  const found = words.filter((word) => line.includes(word)).length;
  return line.includes(query) ? words.length + 1 : found;
}

async function read(
  bounds: Bounds,
  path: string,
  { fromLine, textOf }: { fromLine: number; textOf: TextOf },
): Promise<string> {
  const file = await textOf(await resolveInside(bounds, path), MAX_FILE_BYTES, bounds.root);
  if (file === undefined) throw new ToolRefusal(`"${path}" is not a text file.`);
  const lines = file.text.split("\n");
  const isCut = file.size > MAX_FILE_BYTES;
  if (fromLine > lines.length)
    throw new ToolRefusal(
      isCut
        ? `Of "${path}" only the first ${number(MAX_FILE_BYTES)} of ${number(file.size)} bytes can be read, which is up to line ${lines.length}.`
        : `"${path}" has only ${lines.length} lines.`,
    );
  const text = lines.slice(fromLine - 1).join("\n");
  const shown = cut(text);
  const next = fromLine + Math.max(1, shown.split("\n").length - 1);
  if (shown.length < text.length) return `${shown}\n… cut; continue with from_line ${next}.`;
  return isCut
    ? `${shown}\n… cut: the file has ${file.size} bytes, of which the first ${MAX_FILE_BYTES} can be read.`
    : shown;
}

function cut(text: string): string {
  return text.length <= MAX_OUTPUT_CHARS ? text : text.slice(0, MAX_OUTPUT_CHARS);
}
