// The shape in which a gateway tells where a text is, and in which calls it was shown.
import { z } from "zod";
import { EntryRowSchema } from "./entries.ts";

/** Where a text is, was shown, and what took it. */
export const FoundTextSchema = z.object({
  text: z.string(),
  /** Entries that say it, as many as were asked for. */
  entries: z.array(EntryRowSchema.omit({ fate: true, marks: true })),
  /** How many entries say it, wherever they stand. */
  matching: z.int(),
  /** Entries that say it and are not on the branch any more, and what took each from there. */
  left: z.array(
    EntryRowSchema.omit({ fate: true, marks: true, number: true }).extend({ why: z.string() }),
  ),
  /** The number behind which the next of them stand; null = there are no more. */
  next: z.int().nullable(),
  /** Ranges of calls in which the model could read it. */
  shownIn: z.array(z.object({ from: z.string(), to: z.string(), calls: z.int() })),
  /** Ranges of calls of which nobody can tell whether the model could read it. */
  unseenIn: z.array(
    z.object({ from: z.string(), to: z.string(), calls: z.int(), why: z.string() }),
  ),
  /** The first call after each range, what had taken it there, and until which call it was gone. */
  lost: z.array(z.object({ id: z.string(), to: z.string(), calls: z.int(), why: z.string() })),
  /** Summaries that stood in calls, and whether they say it. */
  summaries: z.array(z.object({ summaryId: z.string(), says: z.boolean() })),
  calls: z.int(),
  /** Of so many turns, from the first on, nobody can tell: they were let go. */
  letGoTurns: z.int(),
});

export type FoundText = z.infer<typeof FoundTextSchema>;
