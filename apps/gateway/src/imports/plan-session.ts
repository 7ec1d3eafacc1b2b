// Decides under which key an imported session is kept, and what it is to its parent.

import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { textOf } from "@clew/plugin-sdk/transcript";
import { DEFAULT_AGENT_ID, type SessionName } from "../sessions/keys.ts";
import { requireSessionName } from "../sessions/name-errors.ts";
import { type Child, childKey } from "../subagents/child.ts";
import type { Format, FoundSession } from "./foreign.ts";
import { hashOf } from "./strand.ts";

export interface PlannedSession {
  name: SessionName;
  /** Null: nobody started it. */
  parent: SessionName | null;
}

/**
 * Pure. `key`: of the file's own session; absent = by its program's name for it. Ids of strangers
 * become names that lead nowhere else. Throws SESSION_NAME_INVALID.
 */
export function planSession(
  format: Format,
  found: FoundSession,
  { key }: { key?: string | undefined },
): PlannedSession {
  const own = (sourceId: string) => requireSessionName(`${format}:${cleanId(sourceId)}`);
  const given = key === undefined ? undefined : requireSessionName(key);
  if (found.parent === null) {
    if (given === undefined || found.name === "")
      return { name: given ?? own(found.sourceId), parent: null };
    return { name: requireSessionName(`${given.key}-${cleanId(found.name)}`), parent: null };
  }
  const isOfFile = found.name !== "";
  const parent = isOfFile && given !== undefined ? given : own(found.parent);
  const agentId = given?.agentId ?? DEFAULT_AGENT_ID;
  const child = childKey(agentId, `${format}-${hashOf(parent.key, found.sourceId)}`);
  const name = isOfFile || given === undefined ? requireSessionName(child) : given;
  return { name, parent: isOfFile || given === undefined ? parent : null };
}

/** Other signs than those of names are replaced, and what was there is told by a hash. */
function cleanId(id: string): string {
  const clean = id.replaceAll(/[^\w-]+/g, "-").slice(0, 80);
  return clean === id && clean !== "" ? clean : `${clean}-${hashOf(id).slice(0, 6)}`;
}

/** Pure. What lists of sessions tell of a subagent that was imported: it is over. */
export function planChild(
  found: FoundSession,
  { name, parent }: { name: SessionName; parent: SessionName & { sessionId: string } },
  said: Said,
): Child {
  const at = Date.parse(said.last ?? found.startedAt);
  return {
    ...{ v: 1, key: name.key, agentId: name.agentId, label: found.label },
    parent: { key: parent.key, agentId: parent.agentId, sessionId: parent.sessionId },
    ...{ task: said.task, contextMode: "isolated", lightContext: false, model: null, engine: null },
    ...{ depth: 1, cleanup: "keep", boundMs: 600_000, maxModelCalls: 200 },
    ...{ startedAt: Date.parse(found.startedAt), state: "ended", preparedBy: null },
    end: { outcome: "completed", reason: null, notice: "completed", at },
    ...{ reply: said.reply, isAnnounced: true, plugin: null },
  };
}

/** What a session's entries told when they went by. */
export interface Said {
  /** The beginning of what was asked first. */
  task: string;
  /** The newest reply. */
  reply: string | null;
  /** When the newest entry was written. */
  last: string | null;
  messages: number;
}

export const SILENCE: Said = { task: "", reply: null, last: null, messages: 0 };

const TASK_CHARS = 200;
const REPLY_CHARS = 4000;

/** Pure. */
export function heard(said: Said, entry: TranscriptEntry): Said {
  const last = entry.timestamp;
  if (entry.type !== "message") return { ...said, last };
  const { message } = entry;
  const messages = said.messages + 1;
  if (message.role === "user" && said.task === "")
    return { ...said, last, messages, task: textOf(message).slice(0, TASK_CHARS) };
  const reply = message.role === "assistant" ? textOf(message).slice(0, REPLY_CHARS) : "";
  return { ...said, last, messages, reply: reply || said.reply };
}
