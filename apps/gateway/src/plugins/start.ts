// Loads the configured plugins for a command that runs turns.
import type { LogPort } from "@clew/engine-core";
import type { RegistrationMode } from "@clew/plugin-sdk/core";
import type { LoadedConfig } from "../config/load.ts";
import { SESSION_TOOLS } from "../recall/record-text.ts";
import { workspaceTools } from "../tools/workspace-tools.ts";
import { bundledPlugins } from "./find/bundled.ts";
import { createPluginHost, type PluginHost } from "./host.ts";

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
  const workspace = workspaceTools(() => "").map(({ name }) => name);
  const reservedTools = [...Object.values(SESSION_TOOLS), ...workspace];
  const { config, raw } = loaded;
  return createPluginHost({
    home: environment.home,
    stateDir,
    plugins: config.plugins,
    raw,
    log,
    reservedTools,
    bundled: bundledPlugins(),
    ...(mode !== undefined && { mode }),
  });
}
