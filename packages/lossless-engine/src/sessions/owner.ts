// Whose a session is, where several homes keep their sessions in one database.
import { dirname, relative } from "node:path";
import type { SessionRef } from "@clew/plugin-sdk/core";

/** A session of one agent: others that share its database may have one of the same key. */
export interface OwnedSession extends SessionRef {
  /** See `ownerOf`. Absent: "", as of hosts that do not say which agent asks. */
  readonly owner?: string | undefined;
}

/**
 * Pure. The agent's folder as seen from the database: homes that are moved together with their
 * databases keep their sessions. Hosts that name no folder share one owner, "".
 */
export function ownerOf(agentDir: string | undefined, database: string): string {
  return agentDir === undefined ? "" : relative(dirname(database), agentDir).replaceAll("\\", "/");
}
