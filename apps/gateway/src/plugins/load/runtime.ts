// What a plugin may use of the host at any time, `api.runtime`.
import { format } from "node:util";
import type { LogPort } from "@clew/engine-core";
import type {
  LlmCompleteParams,
  LlmCompleteResult,
  PluginLogger,
  PluginRuntime,
  PluginSubagents,
  RegistrationMode,
} from "@clew/plugin-sdk/core";
import { agentSettings } from "../../config/agent.ts";
import { ConfigSchema } from "../../config/schema.ts";
import { DEFAULT_AGENT_ID } from "../../sessions/keys.ts";
import { agentFolder } from "../../sessions/paths.ts";
import { VERSION } from "../../version.ts";
import { redactSensitiveText } from "./sdk/logging-core.ts";
import { createSessionFiles } from "./session-files.ts";

export interface RuntimeRequest {
  pluginId: string;
  home: string;
  mode: RegistrationMode;
  /** The configuration now. */
  config: () => unknown;
  complete: (params: LlmCompleteParams) => Promise<LlmCompleteResult>;
  logger: PluginLogger;
  subagent: PluginSubagents;
  tools: PluginRuntime["tools"];
}

export function createPluginRuntime({
  home,
  mode,
  config,
  complete,
  logger,
  subagent,
  tools,
}: RuntimeRequest): PluginRuntime {
  const readOnly = mode !== "full";
  return {
    clew: { version: VERSION },
    registrationMode: mode,
    inspection: { readOnly },
    diagnostics: { readOnly },
    config: withOldName(config),
    llm: { complete },
    logging: { getChildLogger: () => logger, shouldLogVerbose: () => false },
    agent: {
      session: createSessionFiles(home),
      resolveAgentDir: (_config?: unknown, agentId = DEFAULT_AGENT_ID) =>
        agentFolder(home, agentId),
      resolveAgentWorkspaceDir: (_config?: unknown, agentId = DEFAULT_AGENT_ID) =>
        workspaceOf(config(), home, agentId),
    },
    // Models are offered these by the host itself, where a memory can be searched.
    tools: { createMemorySearchTool: () => null, createMemoryGetTool: () => null },
    subagent,
    ...(tools !== undefined && { tools }),
  };
}

/** A configuration that is no good has the workspaces of one that says nothing. */
function workspaceOf(raw: unknown, home: string, agentId: string): string {
  const { data } = ConfigSchema.safeParse(raw);
  return agentSettings(data ?? ConfigSchema.parse({}), home, agentId).workspace;
}

/** `loadConfig` is what older plugins call. */
function withOldName(current: () => unknown): { current(): unknown } {
  return Object.assign({ current }, { loadConfig: current });
}

/** The gateway's log, with the plugin's name and without secrets. */
export function createPluginLogger(log: LogPort, pluginId: string): PluginLogger {
  const line = (message: string, details: unknown[]) =>
    redactSensitiveText(`[plugins] ${pluginId}: ${format(message, ...details)}`);
  return {
    info: (message, ...details) => log.info(line(message, details)),
    warn: (message, ...details) => log.warn(line(message, details)),
    error: (message, ...details) => log.error(line(message, details)),
    debug: () => {},
  };
}
