// Appends the entries of a compaction, unless the session has moved on meanwhile.
import { type CompactCode, isAbort } from "@clew/plugin-sdk/core";
import { headOf, type NewTranscriptEntry, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { CompactTranscriptRequest } from "./compact-request.ts";
import type { SummaryPlan } from "./plan.ts";

/**
 * What a compaction points to that keeps nothing: an entry on the path, never part of the context.
 */
const NOTHING_KEPT_RECORD = "clew.nothing-kept";

/** What was written, or the result that says why nothing was. */
type Written<Value> =
  | ({ ok: true } & Value)
  | { ok: false; compacted: false; code: CompactCode; reason: string };

/** What the compaction points to; one that keeps nothing gets an entry of its own to point to. */
export async function firstKept(
  request: CompactTranscriptRequest,
  branch: readonly TranscriptEntry[],
  { firstKeptEntryId }: SummaryPlan,
): Promise<Written<{ entryId: string }>> {
  if (firstKeptEntryId !== undefined) return { ok: true, entryId: firstKeptEntryId };
  const wrote = await writeEntries(request, branch, [
    { type: "custom", customType: NOTHING_KEPT_RECORD, data: { v: 1 } },
  ]);
  return wrote.ok ? { ok: true, entryId: wrote.entries[0]!.id } : wrote;
}

/** The entries as they were stored, durable; or why nothing was written. */
export async function writeEntries(
  { transcript, signal }: CompactTranscriptRequest,
  planned: readonly TranscriptEntry[],
  entries: readonly NewTranscriptEntry[],
): Promise<Written<{ entries: readonly TranscriptEntry[] }>> {
  const now = transcript.branch();
  if (now.length < planned.length || now[planned.length - 1]?.id !== planned.at(-1)?.id)
    return {
      ok: false,
      compacted: false,
      code: "session-moved",
      reason: "the session moved to another branch in the meantime; nothing was written",
    };
  if (now.slice(planned.length).some(({ type }) => type === "compaction" || type === "reset"))
    return {
      ok: false,
      compacted: false,
      code: "session-moved",
      reason: "the session was compacted or reset in the meantime; nothing was written",
    };
  try {
    return { ok: true, entries: await transcript.append(entries) };
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    // The disk's failure, not the session's: append wrote all or nothing.
    const what = error instanceof Error ? headOf(error.message, 300) : "unknown error";
    return {
      ok: false,
      compacted: false,
      code: "not-written",
      reason: `the compaction could not be written (${what}); history is untouched`,
    };
  }
}
