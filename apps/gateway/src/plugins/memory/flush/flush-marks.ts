// What a session's transcript remembers of its memory flushes.
import {
  type CustomEntry,
  type NewTranscriptEntry,
  originsOf,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import { z } from "zod";

const MARK = "clew.memory-flush";

/**
 * By what marks name an entry: the one that first said it, so that entries which are appended again
 * under other ids, as by an undo, are still named.
 */
export const namedBy = (entry: TranscriptEntry): string => originsOf([entry]).get(entry.id)!;

const MarkSchema = z.object({
  /**
   * begun · done = something was stored · nothing = there was nothing to store · failed · aborted =
   * nobody's failure · compacted and not-compacted = what became of the compaction that followed.
   */
  state: z.enum(["begun", "done", "nothing", "failed", "aborted", "compacted", "not-compacted"]),
  /** Whose memory. Absent: of no flush. */
  plugin: z.string().optional(),
  /**
   * Names the mark with which it began; of a mark that begins: the flush that it makes up for.
   * Absent: it ends none, or makes up for none.
   */
  of: z.string().optional(),
  /** Names the newest message that it saw. Absent: it saw all that stands before its beginning. */
  upTo: z.string().optional(),
  /** Why it failed, for people. Absent: it did not. */
  reason: z.string().optional(),
});
export type FlushMark = z.infer<typeof MarkSchema>;

export const markEntry = (mark: FlushMark): NewTranscriptEntry => ({
  type: "custom",
  customType: MARK,
  data: mark,
});

/** Undefined: it is none, or of a later version. */
export function markIn(entry: TranscriptEntry): FlushMark | undefined {
  if (entry.type !== "custom" || (entry as CustomEntry).customType !== MARK) return undefined;
  return MarkSchema.safeParse(entry.data).data;
}
