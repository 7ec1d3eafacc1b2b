// Whether a plugin is switched on (contract §2.2).
import type { PluginManifest, PluginsConfig } from "@clew/plugin-sdk/host";

export interface EnablementRequest {
  plugins: PluginsConfig;
  manifest: Pick<PluginManifest, "id" | "enabledByDefault">;
  isBundled: boolean;
  /** True when a slot names it or one of its engines. */
  isSelected: boolean;
  /** Why it is in safe mode. Absent: it is not. */
  safeMode?: string | undefined;
}

/** Pure. Why the plugin is off; null = it is on. */
export function whyOff({
  plugins,
  manifest,
  isBundled,
  isSelected,
  safeMode,
}: EnablementRequest): string | null {
  const { id } = manifest;
  const enabled = plugins.entries?.[id]?.enabled;
  if (plugins.enabled === false) return "plugins are disabled (plugins.enabled)";
  if (plugins.deny?.includes(id)) return "it is in plugins.deny";
  if (enabled === false) return `it is disabled (plugins.entries.${id}.enabled)`;
  if (safeMode !== undefined) return safeMode;
  if (isSelected) return null;
  if (plugins.allow !== undefined && plugins.allow.length > 0 && !plugins.allow.includes(id))
    return "it is not in plugins.allow";
  if (isBundled && enabled !== true && manifest.enabledByDefault !== true)
    return "it comes with Clew and is off unless enabled or selected";
  return null;
}

/** The engine id a slot names; null when it is unset, blank or "none". */
export function slotValue(
  plugins: PluginsConfig | undefined,
  slot: "contextEngine" | "memory" = "contextEngine",
): string | null {
  const value = plugins?.slots?.[slot]?.trim() ?? "";
  return value === "" || value.toLowerCase() === "none" ? null : value;
}
