// Which tools of plugins there are beside the engine that answers a session.
import { pluginOf } from "@clew/engine-core";
import type { OwnedEngine } from "./register-engines.ts";
import type { OwnedTool } from "./tools.ts";

export interface EngineToolsRequest {
  /** Of the engine that answers, as it was registered. */
  owner: string;
  tools: readonly OwnedTool[];
  engines: readonly Pick<OwnedEngine, "pluginId">[];
  /** Whose memory was chosen. */
  memory: { readonly chosen: { readonly pluginId: string } | null };
}

/**
 * Pure. The tools of a plugin that brings an engine look into what that one stored: where another
 * one answers they have nothing to tell, unless the plugin is the memory that was chosen.
 */
export function toolsBeside({ owner, tools, engines, memory }: EngineToolsRequest): OwnedTool[] {
  const idle = new Set(engines.map(({ pluginId }) => pluginIdOf(pluginId)));
  for (const inUse of [pluginOf(owner), memory.chosen?.pluginId])
    if (inUse !== undefined) idle.delete(pluginIdOf(inUse));
  return tools.filter(({ pluginId }) => !idle.has(pluginIdOf(pluginId)));
}

/** "<id>/<entry>" belongs to "<id>". */
export const pluginIdOf = (pluginId: string): string => pluginId.split("/")[0]!;
