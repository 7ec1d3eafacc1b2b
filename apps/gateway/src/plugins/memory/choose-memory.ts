// Decides which plugin remembers for the agents.
import type { MemoryCapability, MemoryPromptBuilder } from "@clew/plugin-sdk/core";
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { slotValue } from "../find/enablement.ts";

export interface OwnedMemory {
  /** Manifest id; `<id>/<file name>` for one of several entries. */
  pluginId: string;
  capability: MemoryCapability;
}

export interface OwnedSupplement {
  pluginId: string;
  builder: MemoryPromptBuilder;
}

/** What one generation of plugins remembers with. */
export interface ActiveMemory {
  /** Of the plugin that the memory slot names; null = none is named, or it has none. */
  chosen: OwnedMemory | null;
  /** Lines behind those of the chosen one, by plugin id. */
  supplements: readonly OwnedSupplement[];
}

export const NO_MEMORY: ActiveMemory = { chosen: null, supplements: [] };

/** Pure. A plugin's lines are left out, like all else of it, where another one is in the slot. */
export function chooseMemory(
  plugins: PluginsConfig,
  offered: readonly OwnedMemory[],
  supplements: readonly OwnedSupplement[],
): ActiveMemory {
  const slot = slotValue(plugins, "memory");
  const chosen = offered.find(({ pluginId }) => pluginId === slot || isEntryOf(slot, pluginId));
  return {
    chosen: chosen ?? null,
    supplements: supplements.toSorted((a, b) => a.pluginId.localeCompare(b.pluginId)),
  };
}

const isEntryOf = (slot: string | null, pluginId: string) =>
  slot !== null && pluginId.startsWith(`${slot}/`);

/** Why a memory that a plugin offers is not used; undefined = it is. */
export function whyUnused(plugins: PluginsConfig, pluginId: string): string | undefined {
  const slot = slotValue(plugins, "memory");
  if (slot === pluginId || isEntryOf(slot, pluginId)) return undefined;
  const id = pluginId.split("/")[0]!;
  const who = slot === null ? "no memory is chosen" : `"${slot}" is chosen`;
  return `it offers a memory, which is not used because ${who}; to use it: clew config set plugins.slots.memory ${id}`;
}
