// Decides what each file in the folder of an agent is to a copy of its sessions.
import { isSafeId } from "../../sessions/keys.ts";
import { fileNameOf } from "../../sessions/paths.ts";

export type PlannedPlace =
  /** A transcript, if it reads as one. */
  | { kind: "transcript"; sessionId: string }
  /** Goes with a transcript. `isOwn`: it says something of its home alone. */
  | { kind: "of-session"; sessionId: string; isOwn: boolean }
  /** The list of sessions. */
  | { kind: "index" }
  /** What reports name. */
  | { kind: "part"; hash: string }
  /** Kept as it is. */
  | { kind: "other" }
  /** Says that a process has something open. */
  | { kind: "lock" };

/** Folders of an agent that hold what belongs to sessions. */
export const COPIED_FOLDERS = ["sessions", "reports", "outbox"] as const;

/** Those that a gateway goes on with in its home, wherever sessions are. */
export const STAYING_FOLDERS: Readonly<Record<string, string>> = {
  subagents: "records of child sessions",
  approvals: "what people allowed",
  editors: "what editors hold",
};

const LOCK = /^(.+)\.lock(?:\..+)?$/;

/** Pure. `path` is below the agent's folder, its parts without slashes. */
export function planPlace(path: readonly string[]): PlannedPlace {
  const [folder, name = "", below] = path;
  if (below !== undefined) return planBelow(path);
  if (LOCK.test(name)) return { kind: "lock" };
  if (folder === "sessions") {
    if (name === "sessions.json") return { kind: "index" };
    const sessionId = idIn(name, /^(.+?)\.jsonl(?:\..+)?$/);
    if (sessionId === undefined) return { kind: "other" };
    return name === fileNameOf(sessionId)
      ? { kind: "transcript", sessionId }
      : { kind: "of-session", sessionId, isOwn: false };
  }
  const sessionId = idIn(name, /^(.+?)(?:\.older)?\.jsonl(?:\..+)?$/);
  if (sessionId === undefined) return { kind: "other" };
  return { kind: "of-session", sessionId, isOwn: folder === "outbox" };
}

function planBelow(path: readonly string[]): PlannedPlace {
  const [folder, inner, name = "", deeper] = path;
  if (folder === "reports" && inner === "parts" && deeper === undefined && isSafeId(name))
    return { kind: "part", hash: name };
  return { kind: "other" };
}

function idIn(name: string, pattern: RegExp): string | undefined {
  const id = pattern.exec(name)?.[1];
  return id !== undefined && isSafeId(id) ? id : undefined;
}
