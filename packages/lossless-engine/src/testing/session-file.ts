// Writes session files as hosts do.
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { NewTranscriptEntry } from "@clew/plugin-sdk/transcript";
import { temporaryFolder } from "./temporary-folder.ts";

const TIMESTAMP = "2026-01-01T00:00:00.000Z";

/** A session file that grows. */
export interface SessionFile {
  readonly path: string;
  /** Appends an entry; its id. Behind the newest one, unless `parentId` says behind which. */
  append(entry: NewTranscriptEntry, parentId?: string | null): string;
  /** Appends messages behind the newest entry; the id of the last. */
  say(...messages: AgentMessage[]): string;
  /** Appends what is no entry. */
  raw(text: string): void;
}

/** `kept`: where a host keeps it, and what it writes into its first line. Absent: anywhere. */
export function sessionFile(
  sessionId = "s1",
  prefix = "e",
  kept?: { path: string; sessionKey: string; timestamp: string },
): SessionFile {
  const path = kept?.path ?? join(temporaryFolder(), "session.jsonl");
  const { sessionKey, timestamp = TIMESTAMP } = kept ?? {};
  const header = { type: "session", version: 3, id: sessionId, timestamp, cwd: "", sessionKey };
  writeFileSync(path, `${JSON.stringify(header)}\n`);
  let count = 0;
  let newest: string | null = null;
  const append: SessionFile["append"] = (entry, parentId = newest) => {
    const id = `${prefix}${count++}`;
    appendFileSync(path, `${JSON.stringify({ ...entry, id, parentId, timestamp: TIMESTAMP })}\n`);
    newest = id;
    return id;
  };
  return {
    path,
    append,
    say: (...messages) => messages.map((message) => append({ type: "message", message })).at(-1)!,
    raw: (text) => appendFileSync(path, text),
  };
}
