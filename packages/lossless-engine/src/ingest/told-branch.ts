// Which messages of a transcript were told on its active branch, as they were first stored.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import {
  activeBranch,
  buildContext,
  originsOf,
  type TranscriptEntry,
  withMessageId,
} from "@clew/plugin-sdk/transcript";
import { keyOf, type NamedMessage } from "../messages/name.ts";

/** A message of a branch, and the entry of the branch that holds it now. */
export interface ToldMessage extends NamedMessage {
  readonly entryId: string;
}

/**
 * Every message on the way from the root to the newest entry, those before a compaction or a reset
 * too, oldest first. Branches that were left are not told. Where a message was stored again,
 * shorter or otherwise rewritten, it is told as its first entry has it, if that is still there.
 */
export function toldBranch(entries: readonly TranscriptEntry[]): ToldMessage[] {
  const branch = activeBranch(entries);
  const origins = originsOf(branch);
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  let isHeartbeat = false;
  return branch.flatMap((entry): ToldMessage[] => {
    const name = origins.get(entry.id)!;
    const first = byId.get(name);
    const message = messageIn(first?.type === entry.type ? first : entry, name);
    if (message === undefined) return [];
    if (message.role === "user") isHeartbeat = message.__openclaw?.kind === "heartbeat";
    return [{ entryId: entry.id, name: keyOf(name), message, ...(isHeartbeat && { isHeartbeat }) }];
  });
}

/** Undefined: the entry is none that a model is ever shown. */
export function messageIn(entry: TranscriptEntry, name: string): AgentMessage | undefined {
  const message = buildContext([entry]).items.at(-1)?.message;
  return message && withMessageId(message, name);
}
