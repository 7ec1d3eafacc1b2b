// Finds and loads the plugins that are on.
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { discoverPlugins } from "./find/discover.ts";
import { recallRecords } from "./find/engine-memory.ts";
import { toolsOfEngines } from "./find/engine-tools.ts";
import type { InstallRecords } from "./find/records.ts";
import { logRecords } from "./load/record.ts";
import { type HostContext, type LoadedPlugins, loadPlugins } from "./load-plugins.ts";
import { pluginIdOf } from "./offer/beside-engine.ts";
import { readSafeMode } from "./safe-mode.ts";

export interface Generation extends LoadedPlugins {
  /** 0 = loaded at the start. */
  number: number;
  installs: InstallRecords;
  /** Names of tools that plugins with an engine declare, loaded or not. */
  engineTools: ReadonlySet<string>;
}

export interface GenerationRequest {
  home: string;
  plugins: PluginsConfig;
  bundled: readonly string[];
  /** Engines that agents have of their own. Absent: none. */
  agentEngines?: readonly string[];
  reservedTools: readonly string[];
  context: HostContext;
}

export async function loadGeneration(request: GenerationRequest): Promise<Generation> {
  const { home, plugins, bundled, agentEngines = [], reservedTools, context } = request;
  const { log, generation } = context;
  const installs = recallRecords(home, log);
  const found = discoverPlugins({ home, plugins, records: installs, bundled });
  const engineOwners = installs.engines;
  const { plugins: safeMode, problem } = readSafeMode(home);
  if (problem !== null) log.warn(problem);
  const loaded = await loadPlugins({
    ...{ found, plugins, engineOwners, agentEngines, reservedTools, safeMode, context },
  });
  logRecords(loaded.records, log);
  const owners = loaded.engines.map(({ pluginId }) => pluginIdOf(pluginId));
  const engineTools = toolsOfEngines(found, [...owners, ...Object.values(engineOwners)]);
  return { ...loaded, number: generation, installs, engineTools };
}
