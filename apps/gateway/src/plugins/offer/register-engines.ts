// Registers the engines of plugins under their plugins' names.
import type { EngineRegistry, LogPort } from "@clew/engine-core";
import type { ContextEngineFactory, RegistrationMode } from "@clew/plugin-sdk/core";
import { rememberEngines } from "../find/engine-memory.ts";
import type { Diagnostic } from "../load/registrations.ts";

export interface OwnedEngine {
  pluginId: string;
  engineId: string;
  factory: ContextEngineFactory;
  /** Of its plugin. */
  diagnostics: Diagnostic[];
}

export interface RegisterRequest {
  registry: EngineRegistry;
  engines: readonly OwnedEngine[];
  mode: RegistrationMode;
  home: string;
  log: LogPort;
}

/** An id that another owner has becomes a diagnostic of the plugin that came too late. */
export function registerEngines({ registry, engines, mode, home, log }: RegisterRequest): void {
  for (const { pluginId, engineId, factory, diagnostics } of engines) {
    const result = registry.register({
      ...{ engineId, factory, owner: ownerName(pluginId), allowSameOwnerRefresh: true },
      lifecycle: mode === "full" ? "runtime" : "readOnlyDiscovery",
    });
    if (result.ok) continue;
    const message = `context engine already registered: ${engineId} (${result.existingOwner})`;
    diagnostics.push({ level: "error", message });
    log.error(`[plugins] ${pluginId}: ${message}`);
  }
  if (mode === "full") rememberEngines(home, engines, log);
}

export async function unregisterEngines(
  registry: EngineRegistry,
  engines: readonly OwnedEngine[],
): Promise<void> {
  for (const { pluginId } of engines) await registry.unregisterOwner(ownerName(pluginId));
}

const ownerName = (pluginId: string) => `plugin:${pluginId}`;
