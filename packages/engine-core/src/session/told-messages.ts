// Which entries of a branch are messages that engines are told of.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { buildContext, ORIGIN, type TranscriptEntry } from "@clew/plugin-sdk/transcript";

/** A message of a branch, and the entry that holds it now. */
export interface ToldMessage {
  /** The entry that first held it. */
  id: string;
  message: AgentMessage;
  entry: TranscriptEntry;
  /** Position of the entry on the branch, and of the message among what engines are told of. */
  rawSeq: number;
  position: number;
}

/**
 * What was said, and what hosts and plugins noted for the model. A compaction's summary is none: it
 * stands for messages that engines were told of.
 */
export function messageIn(
  entry: TranscriptEntry,
): { id: string; message: AgentMessage } | undefined {
  switch (entry.type) {
    case "message":
      return isRuntimeContext(entry.message)
        ? undefined
        : { id: messageId(entry.message) ?? entry.id, message: entry.message };
    case "custom_message":
    case "branch_summary": {
      const item = buildContext([entry]).items[0];
      return item === undefined || isRuntimeContext(item.message) ? undefined : item;
    }
    default:
      return undefined;
  }
}

/**
 * The id of what the entry tells, without reading it where the entry says so itself; undefined when
 * engines are not told of it.
 */
export const toldId = (entry: TranscriptEntry): string | undefined =>
  entry.type === "message" && entry[ORIGIN] !== undefined ? entry[ORIGIN] : messageIn(entry)?.id;

/** Ids of all of them, oldest first. */
export const messageIds = (branch: readonly TranscriptEntry[]): string[] =>
  branch.flatMap((entry) => toldId(entry) ?? []);

/**
 * Text a host injects for one run; engines and the stored history never see it
 * (transcript policy R2b).
 */
export const isRuntimeContext = (message: AgentMessage): boolean =>
  message.role === "custom" && message.customType === "openclaw.runtime-context";
