// The tools that search and read what the chosen memory plugin remembers.
import type { HostSession, LogPort } from "@clew/engine-core";
import type { MemorySearchManager, MemorySearchResult } from "@clew/plugin-sdk/core";
import { within } from "@clew/plugin-sdk/host";
import { headOf } from "@clew/plugin-sdk/transcript";
import { z } from "zod";
import { defineTool, type Tool, ToolRefusal } from "../../tools/tool.ts";
import { messageOf } from "../invalid.ts";
import type { RunAs } from "../load/running.ts";
import { inPluginScope } from "../load/scope.ts";
import { abilitiesOf, askManager } from "./abilities.ts";
import type { OwnedMemory } from "./choose-memory.ts";
import { openManagers } from "./close-memory.ts";
import { type Taken, takeResults, takeText, tellWrong } from "./memory-answers.ts";

/** A memory that hangs must not keep a turn waiting for long, ms. */
const MEMORY_MS = 15_000;
/** Of one passage. */
const SNIPPET_CHARS = 1_500;
const MOST_RESULTS = 20;
const DEFAULT_RESULTS = 6;

export const MEMORY_TOOLS = { search: "memory_search", get: "memory_get" } as const;

export interface MemoryToolsRequest {
  memory: OwnedMemory;
  runAs: RunAs;
  log: LogPort;
  /** The whole configuration, as plugins see it. */
  cfg: unknown;
  /** False: results do not name where they stand. */
  cites: boolean;
  /** Absent: MEMORY_MS. */
  boundMs?: number;
}

/**
 * Those that the agent's manager can answer. None where the plugin brings no runtime: then its own
 * tools are all there is.
 */
export function memoryTools(request: MemoryToolsRequest & { agentId: string }): Tool[] {
  const { memory, agentId } = request;
  if (memory.capability.runtime === undefined) return [];
  const { search, get } = abilitiesOf(memory, agentId);
  return [...(search ? [searchTool(request)] : []), ...(get ? [getTool(request)] : [])];
}

const searchTool = (request: MemoryToolsRequest): Tool =>
  defineTool({
    name: MEMORY_TOOLS.search,
    description:
      "Searches what was remembered across sessions, best passages first. Use it before you say that something from earlier is not known.",
    parameters: z.object({
      query: z.string().min(1).describe("What to look for, in words."),
      max_results: z.int().positive().max(MOST_RESULTS).optional().describe("Default: 6."),
    }),
    readOnly: true,
    run: ({ query, max_results: maxResults = DEFAULT_RESULTS }, { session, signal }) =>
      withManager(request, { session, signal }, async (manager) => {
        if (typeof manager.search !== "function") throw lacks(request, "be searched");
        const { sessionKey } = session;
        const found: unknown = await manager.search(query, { maxResults, sessionKey });
        const results = use(request, MEMORY_TOOLS.search, takeResults(found, maxResults));
        return describeResults(results, request.cites);
      }),
  });

const getTool = (request: MemoryToolsRequest): Tool =>
  defineTool({
    name: MEMORY_TOOLS.get,
    description: "Shows a place that memory_search named, whole or from a line on.",
    parameters: z.object({
      path: z.string().min(1).describe("As memory_search gives it."),
      from: z.int().positive().optional().describe("First line, counted from 1. Default: 1."),
      lines: z.int().positive().optional().describe("How many. Default: all."),
    }),
    readOnly: true,
    run: ({ path: relPath, from, lines }, { session, signal }) =>
      withManager(request, { session, signal }, async (manager) => {
        if (typeof manager.readFile !== "function") throw lacks(request, "be read by path");
        const part = {
          ...(from !== undefined && { from }),
          ...(lines !== undefined && { lines }),
        };
        const read: unknown = await manager.readFile({ relPath, ...part });
        const text = use(request, MEMORY_TOOLS.get, takeText(read));
        return text === "" ? `${relPath} holds nothing there.` : text;
      }),
  });

/** What is wrong with an answer is told; what cannot be used of it is refused. */
function use<Value>(
  { memory: { pluginId }, log }: MemoryToolsRequest,
  asked: string,
  { value, wrong }: Taken<Value | null>,
): Value {
  tellWrong(log, { plugin: pluginId, asked, wrong });
  if (value !== null) return value;
  throw new ToolRefusal(`The memory of plugin "${pluginId}" cannot be used: ${wrong}.`);
}

async function withManager(
  request: MemoryToolsRequest,
  { session, signal }: { session: HostSession; signal: AbortSignal },
  work: (manager: MemorySearchManager) => Promise<string>,
): Promise<string> {
  const { memory, runAs, cfg, log, boundMs = MEMORY_MS } = request;
  const { pluginId } = memory;
  const onTimeout = () => {
    throw new ToolRefusal(
      `The memory of plugin "${pluginId}" did not answer within ${boundMs / 1000} s.`,
    );
  };
  const ask = async () => {
    const { agentId } = session;
    const given = await askManager(memory, { cfg, agentId });
    const { manager, error } = use(request, "memory manager", given);
    if (manager !== null)
      return openManagers(memory, { runAs, log }).during(agentId, manager, () => work(manager));
    const why = error === undefined ? "." : `: ${error}`;
    throw new ToolRefusal(`The memory of plugin "${pluginId}" is not there${why}`);
  };
  try {
    return await within({ boundMs, signal, onTimeout }, () =>
      inPluginScope(session, () => runAs(pluginId, ask)),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolRefusal) throw error;
    throw new ToolRefusal(`The memory of plugin "${pluginId}" failed: ${messageOf(error)}`);
  }
}

const lacks = ({ memory }: MemoryToolsRequest, what: string) =>
  new ToolRefusal(
    `The memory of plugin "${memory.pluginId}" cannot ${what}; use the tools that the plugin brings.`,
  );

function describeResults(results: readonly MemorySearchResult[], cites: boolean): string {
  if (results.length === 0) return "Nothing that fits is remembered.";
  return results.map((result) => describeResult(result, cites)).join("\n\n");
}

function describeResult({ path, startLine, endLine, snippet }: MemorySearchResult, cites: boolean) {
  const last = Number.isInteger(endLine) ? endLine : startLine;
  const lines = Number.isInteger(startLine) ? `#L${startLine}-L${last}` : "";
  const text = headOf(snippet, SNIPPET_CHARS);
  return cites ? `${text}\nSource: ${path}${lines}` : `${text}\n(${path})`;
}
