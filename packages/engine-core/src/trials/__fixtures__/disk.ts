// What survives the death of a test host: session files, delivery records and engines' stores.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { activeBranch, type MessageEntry, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { HostSession } from "../../index.ts";
import { deliveryRecords } from "./deliveries.ts";
import { type EngineStore, emptyStore } from "./engine-store.ts";

/** A session of this host, which keeps files. */
export type DiskSession = HostSession & { sessionFile: string };

/** Who a turn was for. */
export type TurnKind = "user" | "heartbeat" | "cron";

/** A disk in memory; everything on it is JSON text, so that no object survives a restart. */
export interface Disk {
  /** Lines of each session file, one entry each. */
  files: Map<string, string[]>;
  /** What `readEntries` has parsed of them. */
  parsed: Map<string, TranscriptEntry[]>;
  /** Where the next entry of a file is appended; absent = after its last line. */
  leaves: Map<string, string | null>;
  /** Which transcript a session key is at. */
  current: Map<string, string>;
  /** What engines acknowledged. */
  deliveries: ReturnType<typeof deliveryRecords>;
  /** Whether a session's record goes with it to a successor, or belongs to one transcript. */
  recordsBy: "session" | "transcript";
  /** Whether entries and acknowledgements can be stored together. */
  storesSteps: boolean;
  /** Whether engines are told where the transcript is. */
  tellsFiles: boolean;
  /** What engines remember, by engine id. */
  stores: Map<string, EngineStore>;
  /** Whose turn a message belongs to, by the id it was first stored under. */
  kinds: Map<string, TurnKind>;
  /** Numbers entries and sessions. */
  next: number;
}

/** What a host's disk can do; absent: records by session, one line at a time, files told. */
export type DiskOptions = Partial<Pick<Disk, "recordsBy" | "storesSteps" | "tellsFiles">>;

export const emptyDisk = ({
  recordsBy = "session",
  storesSteps = false,
  tellsFiles = true,
}: DiskOptions = {}): Disk => ({
  recordsBy,
  storesSteps,
  tellsFiles,
  files: new Map(),
  parsed: new Map(),
  leaves: new Map(),
  current: new Map(),
  deliveries: deliveryRecords(),
  stores: new Map(),
  kinds: new Map(),
  next: 0,
});

export const SESSION_KEY = "agent:main:main";

export const fileOf = (sessionId: string) => `/sessions/${sessionId}.jsonl`;

export function storeOf(disk: Disk, engineId: string): EngineStore {
  const store = disk.stores.get(engineId) ?? emptyStore();
  disk.stores.set(engineId, store);
  return store;
}

export function currentSession(disk: Disk, sessionKey = SESSION_KEY): DiskSession {
  const sessionId = disk.current.get(sessionKey) ?? `session-${sessionKey}`;
  disk.current.set(sessionKey, sessionId);
  return { agentId: "main", sessionId, sessionKey, sessionFile: fileOf(sessionId) };
}

/** Where the deliveries of a session are on record. */
export const recordOf = ({ recordsBy }: Disk, { sessionKey, sessionId }: HostSession) =>
  recordsBy === "session" ? sessionKey : sessionId;

/** Entries as somebody reads them who opens the file now: objects of their own. */
export const loadEntries = (disk: Disk, file: string): TranscriptEntry[] =>
  (disk.files.get(file) ?? []).map((line) => JSON.parse(line) as TranscriptEntry);

/** The same to look at only; each line is parsed once. */
export function readEntries(disk: Disk, file: string): TranscriptEntry[] {
  const lines = disk.files.get(file) ?? [];
  const seen = disk.parsed.get(file) ?? [];
  disk.parsed.set(file, seen);
  for (let at = seen.length; at < lines.length; at++)
    seen.push(JSON.parse(lines[at]!) as TranscriptEntry);
  return seen;
}

/** The active branch as it stands on the disk, to look at only. */
export function readBranch(disk: Disk, file: string): TranscriptEntry[] {
  return activeBranch(readEntries(disk, file), disk.leaves.get(file));
}

export const messageEntries = (branch: readonly TranscriptEntry[]): MessageEntry[] =>
  branch.filter((entry) => entry.type === "message");

/**
 * What happened, told by a message's content: two messages with one event are the same message
 * twice, whatever their ids. Prompts say "q7", replies "r7", calls and results name their call.
 */
export function eventOf(message: AgentMessage): string {
  if (message.role === "toolResult") return `result ${message.toolCallId}`;
  if (!("content" in message)) return message.role;
  const { content } = message;
  const call =
    typeof content === "string" ? undefined : content.find((block) => block.type === "toolCall");
  if (call !== undefined) return `calls ${call.id}`;
  const text =
    typeof content === "string"
      ? content
      : content.map((block) => ("text" in block ? block.text : "")).join("");
  return /^\S+/.exec(text)?.[0] ?? `${message.role} at ${message.timestamp}`;
}

/** What a message says, as JSON. */
export const contentOf = (message: AgentMessage): string =>
  JSON.stringify("content" in message ? message.content : message);
