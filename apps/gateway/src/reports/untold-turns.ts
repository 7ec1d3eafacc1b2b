// Finds the turns of a branch that no report tells of.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { ROLE, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { originOf } from "../sessions/origin.ts";

export interface UntoldTurn {
  /** The entry that began it. */
  promptEntryId: string;
  /** When it was stored, ISO 8601, and when the next message of a person was; null = none was. */
  at: string;
  until: string | null;
  /** Stored replies of models. */
  replies: number;
  /** What began the told turns around it; null = there is none. */
  after: string | null;
  before: string | null;
}

/**
 * Pure. Turns with replies, oldest first. `told`: how many calls the turns made that reports tell
 * of, by the entry that began them. What was said into such a turn is part of it.
 */
export function planUntold(
  branch: readonly TranscriptEntry[],
  told: ReadonlyMap<string, number>,
): UntoldTurn[] {
  const untold: UntoldTurn[] = [];
  let after: string | null = null;
  /** Replies that the told turn is still to have. */
  let due = 0;
  let last: string | undefined;
  let open: UntoldTurn | undefined;
  const close = (until: string | null) => {
    if (open !== undefined && open.replies > 0) untold.push({ ...open, until });
    open = undefined;
  };
  for (const entry of branch) {
    if (entry.type !== "message") continue;
    const role: string = entry[ROLE] ?? entry.message.role;
    const isWithin = open === undefined && due > 0 && last === "toolResult";
    last = role;
    if (role === "assistant") {
      due--;
      if (open !== undefined && isOfModel(entry.message)) open.replies++;
    }
    if (role !== "user") continue;
    const prompt = [entry.id, originOf(entry)].find((id) => told.has(id));
    if (prompt === undefined && isWithin) continue;
    close(entry.timestamp);
    if (prompt === undefined) {
      const { id, timestamp } = entry;
      open = { promptEntryId: id, at: timestamp, until: null, replies: 0, after, before: null };
      continue;
    }
    for (let at = untold.length - 1; untold[at]?.before === null; at--) untold[at]!.before = prompt;
    due = told.get(prompt)!;
    after = prompt;
  }
  close(null);
  return untold;
}

/**
 * Pure. How many calls were made, by the entry that began their turn; what nothing began, as a
 * step of a client's turn, goes on with the turn before it.
 */
export function callsByPrompt(
  turns: Iterable<{ promptEntryId: string | null; calls: number }>,
): Map<string, number> {
  const found = new Map<string, number>();
  let last: string | null = null;
  for (const { promptEntryId, calls } of turns) {
    last = promptEntryId ?? last;
    if (last !== null) found.set(last, (found.get(last) ?? 0) + calls);
  }
  return found;
}

/** Others write replies, too, which cost nothing. */
const isOfModel = (message: AgentMessage): boolean =>
  message.role === "assistant" && (message.model !== undefined || message.usage !== undefined);
