// What a host is told of child sessions, for their parents' engines.
import type { HostSession, PreparedSpawn } from "@clew/engine-core";
import type { SubagentEndedParams } from "@clew/plugin-sdk/core";

/** A child session that is about to start, and the one that starts it. */
export interface SpawnRequest {
  parent: HostSession;
  childSessionKey: string;
  contextMode: "isolated" | "fork";
  lightContext: boolean;
  /** How long it may run, ms. */
  boundMs: number;
  /** Makes its transcript; not called where the engine cannot do what is asked. */
  begin(): Promise<HostSession>;
  signal: AbortSignal;
}

/** What was prepared, and by which engine; null = none was asked. */
export interface PreparedChild extends PreparedSpawn {
  preparedBy: string | null;
}

/** A child that is over, and who is told. */
export interface EndedChild extends SubagentEndedParams {
  parent: Pick<HostSession, "agentId" | "sessionKey">;
  /** Registered id; null = whoever answers the parent. */
  preparedBy: string | null;
}
