// What a provider counted for the last request of a session, as far as that still holds.
import { type ModelRef, promptTokensOf } from "@clew/plugin-sdk/host";
import { PRUNE_ENTRY_TYPE, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { LastRequest } from "./expand.ts";

/** A request of which a provider said how large it was. */
export interface RequestCount {
  /** Entries of its messages, and of the reply if one was stored; undefined = it has none. */
  ids: readonly (string | undefined)[];
  /** Tokens of the prompt, and of the reply. */
  tokens: number;
}

/**
 * Undefined: nothing was counted, another model would count otherwise, or the history before the
 * reply was made smaller since.
 */
export function countOf(
  { report, call, messages }: LastRequest,
  { branch, model }: { branch: readonly TranscriptEntry[]; model: ModelRef },
): RequestCount | undefined {
  const { usage, error, failure } = call;
  const wasTaken = error === null || failure?.kind === "overflow";
  if (usage === null || !wasTaken || report.model.resolved !== `${model.provider}/${model.id}`)
    return undefined;
  const ids = messages.map(({ source }) => (source.kind === "entry" ? source.entryId : undefined));
  const replied = report.replyEntryId === null ? [] : [report.replyEntryId];
  const known = new Set([...ids, ...replied]);
  const since = branch.slice(branch.findLastIndex(({ id }) => known.has(id)) + 1);
  const tokens = promptTokensOf(usage) + (error === null ? usage.output : 0);
  if (tokens <= 0 || since.some(makesSmaller)) return undefined;
  return { ids: [...ids, ...replied], tokens };
}

const makesSmaller = (entry: TranscriptEntry) =>
  entry.type === "compaction" ||
  entry.type === "reset" ||
  (entry.type === "custom" && entry.customType === PRUNE_ENTRY_TYPE);
