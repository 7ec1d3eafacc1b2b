// What the servers are to a session that an editor sends with it.
import type { McpServer } from "@agentclientprotocol/sdk";

/** They belong to one session, and to one editor that holds it. */
export interface OpenServers {
  close(): Promise<void>;
}

export interface ServersRequest {
  servers: readonly McpServer[];
  /** Canonical. */
  key: string;
  /** Absolute; where they are started. */
  cwd: string;
}

/** Never rejects: what cannot be reached is told in the session, which begins without it. */
export type OpenEditorServers = (request: ServersRequest) => Promise<OpenServers>;
