// Loads the configured plugins for a command that runs turns.
import type { LogPort } from "@clew/engine-core";
import type { RegistrationMode } from "@clew/plugin-sdk/core";
import { agentIds, agentSettings, defaultAgentId } from "../config/agent.ts";
import type { LoadedConfig } from "../config/load.ts";
import { ConfigSchema } from "../config/schema.ts";
import { gatewayTools } from "../recall/gateway-tools.ts";
import { agentFolder } from "../sessions/paths.ts";
import { watchProcess } from "./contain/watch-process.ts";
import { bundledPlugins } from "./find/bundled.ts";
import { type AgentPlace, createPluginHost, type PluginHost } from "./host.ts";
import { SKILL_TOOL } from "./skills/skill-tool.ts";

export interface StartPluginsRequest {
  environment: { home: string };
  /** Where plugins keep what they store, when that is not the home they are installed in. */
  stateDir?: string;
  loaded: Pick<LoadedConfig, "config" | "raw">;
  log: LogPort;
  mode?: RegistrationMode;
}

/** A plugin that cannot be loaded is logged and a record; nothing is thrown for it. */
export function startPlugins({
  environment,
  loaded,
  log,
  stateDir,
  mode,
}: StartPluginsRequest): Promise<PluginHost> {
  const { config, raw } = loaded;
  const { home } = environment;
  watchProcess({ home, seconds: config.gateway.watchdogSeconds, log });
  return createPluginHost({
    home,
    stateDir,
    workspaceDir: agentSettings(config, home, defaultAgentId(config)).workspace,
    plugins: config.plugins,
    raw,
    log,
    reservedTools: [...gatewayTools(), SKILL_TOOL],
    bundled: bundledPlugins(),
    ...(mode !== undefined && { mode }),
    agentsOf: (settings) => agentPlaces(settings, stateDir ?? home),
  });
}

/** Of a checked configuration; each agent once. */
function agentPlaces(raw: unknown, home: string): AgentPlace[] {
  const config = ConfigSchema.parse(raw);
  return agentIds(config).map((agentId) => ({
    agentId,
    workspaceDir: agentSettings(config, home, agentId).workspace,
    agentDir: agentFolder(home, agentId),
  }));
}
