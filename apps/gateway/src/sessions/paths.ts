// Makes every path in which a session id stands.
import { hash } from "node:crypto";
import { join } from "node:path";

export interface AgentPaths {
  sessions: string;
  index: string;
  reports: string;
  outbox: string;
  subagents: string;
  /** What people allowed for the rest of a session. */
  approvals: string;
  /** Messages that wait for their turn. */
  waiting: string;
  /** Where sessions work that editors began. */
  editors: string;
  workspace: string;
}

/** The folder of everything that belongs to one agent. */
export const agentFolder = (home: string, agentId: string): string => join(home, "agents", agentId);

/** By the folder of the agent: they are asked for many times in each turn. */
const known = new Map<string, AgentPaths>();
const MOST_KNOWN = 1000;

export function agentPaths(home: string, agentId: string): AgentPaths {
  const agent = agentFolder(home, agentId);
  const found = known.get(agent);
  if (found !== undefined) return found;
  if (known.size >= MOST_KNOWN) known.clear();
  const paths = pathsIn(agent);
  known.set(agent, paths);
  return paths;
}

function pathsIn(agent: string): Readonly<AgentPaths> {
  const sessions = join(agent, "sessions");
  return Object.freeze({
    sessions,
    index: join(sessions, "sessions.json"),
    reports: join(agent, "reports"),
    outbox: join(agent, "outbox"),
    subagents: join(agent, "subagents"),
    approvals: join(agent, "approvals"),
    waiting: join(agent, "waiting"),
    editors: join(agent, "editors"),
    workspace: join(agent, "workspace"),
  });
}

/** The transcript of one session. */
export function transcriptFile(home: string, agentId: string, sessionId: string): string {
  return fileOf(agentPaths(home, agentId).sessions, sessionId);
}

/** What the door remembers of a session, beside its transcript, with which it goes. */
export const doorJournalFile = (sessionFile: string): string => `${sessionFile}.door`;

/** What engines have acknowledged of one session. */
export function deliveriesFile(home: string, agentId: string, sessionId: string): string {
  return fileOf(agentPaths(home, agentId).outbox, sessionId);
}

/** Where the messages are that wait in a session of the agent. */
export function waitingFile(home: string, agentId: string, sessionKey: string): string {
  return join(agentPaths(home, agentId).waiting, `${hash("sha256", sessionKey).slice(0, 32)}.json`);
}

/** What is known of a session that an editor began. */
export function editorFile(home: string, agentId: string, sessionKey: string): string {
  return join(agentPaths(home, agentId).editors, `${hash("sha256", sessionKey).slice(0, 32)}.json`);
}

/** The file of one session in a folder that holds one per session. */
export function fileOf(folder: string, sessionId: string): string {
  return join(folder, fileNameOf(sessionId));
}

export const fileNameOf = (sessionId: string): string => `${sessionId}.jsonl`;

/** Where a transcript is below the home, with slashes. */
export const transcriptPlace = (agentId: string, sessionId: string): string =>
  `agents/${agentId}/sessions/${fileNameOf(sessionId)}`;

/** The same of what engines have acknowledged. */
export const deliveriesPlace = (agentId: string, sessionId: string): string =>
  `agents/${agentId}/outbox/${fileNameOf(sessionId)}`;

/** Beside a session's reports: which kept ones they begin with. */
export const keptReportsMark = (folder: string, sessionId: string): string =>
  join(folder, `${sessionId}.base`);

/** The name of a session's older reports, as `fileOf` takes it. */
export const olderReportsOf = (sessionId: string): string => `${sessionId}.older`;
