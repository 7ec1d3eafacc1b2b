// Knows what a database has of sessions before a home is copied into it.
import type { CopySummary, FoundFile, FoundRecord, PostgresCopy } from "@clew/store-postgres";

/** Numbers of an agent's sessions, by whose they are. */
export interface TakenNumbers {
  /** Session and name of the message. */
  messages: Map<number, { of: string; name: string }>;
  /** Session and name of its first message. */
  conversations: Map<number, { of: string; first: string | undefined }>;
  summaries: Map<number, { of: string; conversation: number | null }>;
}

/** What the database has. */
export interface Known {
  byId: Map<string, CopySummary>;
  byKey: Map<string, CopySummary>;
  /** Of this home. */
  records: Map<string, FoundRecord>;
  /** Of all homes. */
  everCopied: Map<string, FoundRecord>;
  /** SHA-256 of kept files, by place. */
  files: Map<string, string>;
  kept: Map<string, FoundFile>;
  /** Up to where numbers of each kind are nobody's to give, as far as this copy saw to it. */
  numbers: Map<string, number>;
  /** By agent: numbers that sessions have, where some may be of another home. */
  taken: Map<string, TakenNumbers>;
}

export const idOf = (agentId: string, id: string): string => `${agentId}\n${id}`;

export async function knownIn(copy: PostgresCopy, homeId: string): Promise<Known> {
  const sessions = await copy.sessions();
  const records = await copy.records();
  const files = (await copy.files()).filter(({ home }) => home === homeId);
  const at = ({ agentId, sessionId }: { agentId: string; sessionId: string }) =>
    idOf(agentId, sessionId);
  return {
    byId: new Map(sessions.map((each) => [at(each), each])),
    byKey: new Map(sessions.map((each) => [idOf(each.agentId, each.key), each])),
    records: new Map(records.filter(({ home }) => home === homeId).map((each) => [at(each), each])),
    everCopied: new Map(records.map((each) => [at(each), each])),
    files: new Map(files.map((file) => [file.place, stampOf(file)])),
    kept: new Map(files.map((file) => [file.place, file])),
    numbers: new Map(),
    taken: new Map(),
  };
}

export const stampOf = ({ kind, sha }: { kind: string; sha: string }): string => `${kind} ${sha}`;
