// What a plugin may use of the host at any time, `api.runtime`.
import { format } from "node:util";
import type { LogPort } from "@clew/engine-core";
import type {
  LlmCompleteParams,
  LlmCompleteResult,
  PluginLogger,
  PluginRuntime,
  RegistrationMode,
} from "@clew/plugin-sdk/core";
import { DEFAULT_AGENT_ID } from "../../sessions/keys.ts";
import { agentFolder } from "../../sessions/paths.ts";
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
}

export function createPluginRuntime({
  home,
  mode,
  config,
  complete,
  logger,
}: RuntimeRequest): PluginRuntime {
  const readOnly = mode !== "full";
  return {
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
    },
    subagent: {
      run: notOffered("run"),
      waitForRun: notOffered("waitForRun"),
      getSessionMessages: notOffered("getSessionMessages"),
      getSession: notOffered("getSession"),
      deleteSession: notOffered("deleteSession"),
    },
  };
}

/** `loadConfig` is what older plugins call. */
function withOldName(current: () => unknown): { current(): unknown } {
  return Object.assign({ current }, { loadConfig: current });
}

function notOffered(method: string): () => Promise<never> {
  return () =>
    Promise.reject(
      new Error(`This host offers no subagent runtime, so subagent.${method} cannot run.`),
    );
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
