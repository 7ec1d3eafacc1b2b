// What of plugins there is beside the engine that answers a session.
import { pluginOf } from "@clew/engine-core";
import type { OwnedEngine } from "./register-engines.ts";

export interface AnsweringEngine {
  /** Of the engine that answers, as it was registered. */
  owner: string;
  engines: readonly Pick<OwnedEngine, "pluginId">[];
  /** What remembers now; null = nothing. */
  memory: { chosen: { pluginId: string } | null };
}

/**
 * Pure. The tools of a plugin that brings an engine look into what that one stored, and its skills
 * tell how: where another one answers they have nothing to tell, unless the plugin is the memory
 * that was chosen.
 */
export function besideEngine<Owned extends { pluginId: string }>(
  owned: readonly Owned[],
  { owner, engines, memory }: AnsweringEngine,
): Owned[] {
  const idle = new Set(engines.map(({ pluginId }) => pluginIdOf(pluginId)));
  for (const inUse of [pluginOf(owner), memory.chosen?.pluginId])
    if (inUse !== undefined) idle.delete(pluginIdOf(inUse));
  return owned.filter(({ pluginId }) => !idle.has(pluginIdOf(pluginId)));
}

/** "<id>/<entry>" belongs to "<id>". */
export const pluginIdOf = (pluginId: string): string => pluginId.split("/")[0]!;
