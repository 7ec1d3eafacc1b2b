// The tools that search and read what the chosen memory plugin remembers.
import type { HostSession } from "@clew/engine-core";
import type { MemorySearchManager, MemorySearchResult } from "@clew/plugin-sdk/core";
import { isRecord, within } from "@clew/plugin-sdk/host";
import { headOf } from "@clew/plugin-sdk/transcript";
import { z } from "zod";
import { defineTool, type Tool, ToolRefusal } from "../../tools/tool.ts";
import { messageOf } from "../invalid.ts";
import type { RunAs } from "../load/running.ts";
import { inPluginScope } from "../load/scope.ts";
import type { OwnedMemory } from "./choose-memory.ts";

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
  /** The whole configuration, as plugins see it. */
  cfg: unknown;
  /** False: results do not name where they stand. */
  cites: boolean;
  /** Absent: MEMORY_MS. */
  boundMs?: number;
}

/** None where the plugin brings no runtime: then its own tools are all there is. */
export function memoryTools(request: MemoryToolsRequest): Tool[] {
  if (request.memory.capability.runtime === undefined) return [];
  const { cites } = request;
  return [
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
          return describeResults(Array.isArray(found) ? found : [], { maxResults, cites });
        }),
    }),
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
          const text = isRecord(read) && typeof read.text === "string" ? read.text : "";
          return text === "" ? `${relPath} holds nothing there.` : text;
        }),
    }),
  ];
}

async function withManager(
  { memory, runAs, cfg, boundMs = MEMORY_MS }: MemoryToolsRequest,
  { session, signal }: { session: HostSession; signal: AbortSignal },
  work: (manager: MemorySearchManager) => Promise<string>,
): Promise<string> {
  const { pluginId, capability } = memory;
  const onTimeout = () => {
    throw new ToolRefusal(
      `The memory of plugin "${pluginId}" did not answer within ${boundMs / 1000} s.`,
    );
  };
  const ask = async () => {
    const { agentId } = session;
    const given = await capability.runtime!.getMemorySearchManager({ cfg, agentId });
    if (isRecord(given?.manager)) return work(given.manager as MemorySearchManager);
    const why = typeof given?.error === "string" ? `: ${given.error}` : ".";
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

/** Whatever a plugin gives as results. */
function describeResults(
  found: readonly unknown[],
  { maxResults, cites }: { maxResults: number; cites: boolean },
): string {
  const results = found.filter(isResult).slice(0, maxResults);
  if (results.length === 0) return "Nothing that fits is remembered.";
  return results.map((result) => describeResult(result, cites)).join("\n\n");
}

const isResult = (given: unknown): given is MemorySearchResult =>
  isRecord(given) && typeof given.snippet === "string" && typeof given.path === "string";

function describeResult({ path, startLine, endLine, snippet }: MemorySearchResult, cites: boolean) {
  const lines = Number.isInteger(startLine) ? `#L${startLine}-L${endLine ?? startLine}` : "";
  const text = headOf(snippet, SNIPPET_CHARS);
  return cites ? `${text}\nSource: ${path}${lines}` : `${text}\n(${path})`;
}
