// Knows which servers bring tools to which session.
import type { HostSession, LogPort } from "@clew/engine-core";
import type { Environment } from "../../config/environment.ts";
import type { McpConfig } from "../../config/mcp.ts";
import { parseSessionName } from "../../sessions/keys.ts";
import type { McpServerStatus } from "./live-server.ts";
import { createMcpTools, type McpTools, usualVariables } from "./mcp-tools.ts";
import { planServers } from "./plan-servers.ts";
import type { McpServer } from "./server.ts";

export interface McpSources {
  /** Begins to connect to the servers of the settings, and waits for nobody. */
  start(): void;
  /** Starts the servers of the settings, and waits until each is there or was tried once. */
  settled(): Promise<void>;
  /** What a session is offered; its own servers first. */
  of(session: Pick<HostSession, "sessionKey">): readonly McpTools[];
  /** Of the servers of the settings; where a session is named, of those that it may use. */
  status(sessionKey?: string): McpServerStatus[];
  /** Connects a server of the settings anew; undefined = there is none of that name. */
  restart(name: string): Promise<McpServerStatus | undefined>;
  /**
   * Gives one session servers of its own, in place of those that it was given before. What it
   * returns ends them; they end with the gateway in any case.
   */
  attach(sessionKey: string, servers: readonly McpServer[]): { close(): Promise<void> };
  close(): Promise<void>;
}

export function createMcpSources({
  config,
  environment,
  log,
}: {
  config: McpConfig;
  environment: Pick<Environment, "variable" | "userHome">;
  log: Pick<LogPort, "info" | "warn">;
}): McpSources {
  const servers = planServers(config, environment);
  const usual = usualVariables(environment.variable);
  const ofAll = servers.length === 0 ? undefined : createMcpTools({ servers, log, usual });
  const ofSessions = new Map<string, McpTools>();
  return {
    start: () => ofAll?.start(),
    settled: async () => ofAll?.settled(),
    of: ({ sessionKey }) =>
      [ofSessions.get(sessionKey), ofAll].filter((tools) => tools !== undefined),
    status(sessionKey = "") {
      const agentId = parseSessionName(sessionKey)?.agentId;
      return [
        ...(ofSessions.get(sessionKey)?.status() ?? []),
        ...(ofAll?.status(agentId === undefined ? undefined : { agentId }) ?? []),
      ];
    },
    restart: async (name) => ofAll?.restart(name),
    attach(sessionKey, given) {
      const before = ofSessions.get(sessionKey);
      const tools = createMcpTools({ servers: given, log, usual });
      ofSessions.set(sessionKey, tools);
      void before?.close();
      return {
        async close() {
          if (ofSessions.get(sessionKey) === tools) ofSessions.delete(sessionKey);
          await tools.close();
        },
      };
    },
    async close() {
      await Promise.all([ofAll?.close(), ...[...ofSessions.values()].map((each) => each.close())]);
    },
  };
}
