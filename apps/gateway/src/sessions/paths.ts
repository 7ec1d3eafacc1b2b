// Where the files of one agent's sessions are below $CLEW_HOME.
import { join } from "node:path";

export interface AgentPaths {
  sessions: string;
  index: string;
  reports: string;
  outbox: string;
  workspace: string;
}

export function agentPaths(home: string, agentId: string): AgentPaths {
  const agent = join(home, "agents", agentId);
  const sessions = join(agent, "sessions");
  return {
    sessions,
    index: join(sessions, "sessions.json"),
    reports: join(agent, "reports"),
    outbox: join(agent, "outbox"),
    workspace: join(agent, "workspace"),
  };
}

/** The transcript of one session. */
export function transcriptFile(home: string, agentId: string, sessionId: string): string {
  return join(agentPaths(home, agentId).sessions, `${sessionId}.jsonl`);
}
