// Phase 1: which old tool results a compaction clears, and the record that makes it durable.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ContextItem, CustomEntry, NewTranscriptEntry, TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { CompactionOptions } from "./options.ts";

export interface PruneStep {
  /** Entries whose output is cleared, oldest first. */
  entryIds: readonly string[];
  /** Lower bound of what it frees. */
  freedTokens: number;
  /** The context as it reads afterwards. */
  messages: readonly AgentMessage[];
  /** What is appended to the transcript. */
  record: NewTranscriptEntry;
}

export function planPruneStep(_input: {
  items: readonly ContextItem[];
  options: CompactionOptions;
  countTokens: "estimate" | "chars4" | undefined;
}): PruneStep | undefined {
  return undefined;
}

/** True for the record of a prune that a compaction made. */
export const isCompactionPrune = (entry: TranscriptEntry | undefined): boolean =>
  entry?.type === "custom" && entry.customType === "clew.prune";

/** The record with the entries it names under their new ids; other custom entries as they are. */
export function remapPrune(entry: CustomEntry, moved: (id: string) => string): CustomEntry {
  const data = entry.data as { entryIds?: unknown } | undefined;
  if (entry.customType !== "clew.prune" || !Array.isArray(data?.entryIds)) return entry;
  return { ...entry, data: { ...data, entryIds: data.entryIds.map((id) => (typeof id === "string" ? moved(id) : id)) } };
}
