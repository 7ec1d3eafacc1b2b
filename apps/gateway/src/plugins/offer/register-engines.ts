// Registers the engines of plugins under their plugins' names.
import type { EngineRegistry, LogPort } from "@clew/engine-core";
import type { ContextEngineFactory, RegistrationMode } from "@clew/plugin-sdk/core";
import { rememberEngines } from "../find/engine-memory.ts";
import { withErrorPlaces } from "../load/error-place.ts";
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
  /** The engines these replace, as far as nobody used them, are disposed by then. */
  ready: Promise<void>;
}

/** An id that another owner has becomes a diagnostic of the plugin that came too late. */
export function registerEngines(request: RegisterRequest): void {
  const { registry, engines, mode, home, log, ready } = request;
  for (const { pluginId, engineId, factory, diagnostics } of engines) {
    const result = registry.register({
      ...{ engineId, owner: ownerName(pluginId), allowSameOwnerRefresh: true },
      // Two engines may not want to share one store.
      factory: (context) => ready.then(() => withErrorPlaces(() => factory(context))),
      lifecycle: mode === "full" ? "runtime" : "readOnlyDiscovery",
    });
    if (result.ok) continue;
    const message = `context engine already registered: ${engineId} (${result.existingOwner})`;
    diagnostics.push({ level: "error", message });
    log.error(`[plugins] ${pluginId}: ${message}`);
  }
  if (mode === "full") rememberEngines(home, engines, log);
}

/** They are gone at once; settles when those that nobody uses are disposed. */
export async function unregisterEngines(
  registry: EngineRegistry,
  engines: readonly OwnedEngine[],
): Promise<void> {
  const owners = new Set(engines.map(({ pluginId }) => ownerName(pluginId)));
  await Promise.all([...owners].map((owner) => registry.unregisterOwner(owner)));
}

const ownerName = (pluginId: string) => `plugin:${pluginId}`;
