// The shapes in which a gateway tells what became of stored entries in calls.
import { z } from "zod";
import { Tokens } from "../amounts.ts";

/** What became of one stored entry in one call: exactly one of these. */
export const FateSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("shown") }),
  z.object({ kind: z.literal("summary"), summaryId: z.string() }),
  z.object({ kind: z.literal("cleared"), rule: z.string() }),
  z.object({
    kind: z.literal("left-out"),
    by: z.enum(["engine", "host", "policy", "person", "program"]),
    why: z.string(),
  }),
  /** A program made the request from what it holds itself, which nobody here knows. */
  z.object({ kind: z.literal("unseen"), why: z.string() }),
]);

/** Marks of a shown entry, which are no fates of their own. */
export const EntryMarkSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("shortened"), from: Tokens, to: Tokens, rule: z.string() }),
  z.object({
    ...{ kind: z.literal("changed"), rule: z.string() },
    /** Ids of tool calls as stored and as sent, where only they differ. Absent: they do not. */
    ids: z.array(z.object({ from: z.string(), to: z.string() })).optional(),
  }),
]);

/** Entries by fate; `all` is the sum of the five, in every call. */
export const FateCountsSchema = z.object({
  all: z.int(),
  shown: z.int(),
  summary: z.int(),
  cleared: z.int(),
  leftOut: z.int(),
  unseen: z.int(),
  /** Of the shown ones. */
  shortened: z.int(),
  changed: z.int(),
});

/** One stored entry, and what became of it in a call. */
export const EntryRowSchema = z.object({
  /** Counts the entries of the branch from 1; what a person is told. */
  number: z.int(),
  entryId: z.string(),
  role: z.string(),
  /** ISO 8601; null = not told. */
  at: z.string().nullable(),
  /** Beginning of the text. */
  preview: z.string(),
  /** Of the whole text. */
  chars: z.int(),
  /** As stored, on the scale of the call, or of the newest one where no call is asked about. */
  tokens: Tokens,
  fate: FateSchema,
  marks: z.array(EntryMarkSchema),
});

/** Entries of a call, in order. */
export const EntryPageSchema = z.object({
  /** The call whose fates these are. */
  call: z.string(),
  entries: z.array(EntryRowSchema),
  /** Of all entries of the call, whatever was asked for. */
  fates: FateCountsSchema,
  /** How many have the fate that was asked for. */
  matching: z.int(),
  /** Number to ask for next as `after`; null = these are the last ones. */
  next: z.int().nullable(),
});

/** A stored entry in full, and what became of it in a call. */
export const EntryTextSchema = z.object({
  /** The call whose fate it is. */
  call: z.string(),
  entry: EntryRowSchema,
  text: z.string(),
  /** Place among the messages that were sent; null = it is none of them. */
  sentAt: z.int().nullable(),
});

/** What became of one entry from call to call. */
export const EntryTraceSchema = z.object({
  /** `number`: in the newest call; null = it is not on its branch any more. */
  entry: EntryRowSchema.omit({ fate: true, marks: true }).extend({ number: z.int().nullable() }),
  /** What took it from the branch, in words; null = it is there. */
  left: z.string().nullable(),
  /** Calls in a row with the same fate, oldest first. */
  ranges: z.array(
    z.object({
      from: z.string(),
      to: z.string(),
      calls: z.int(),
      fate: FateSchema,
      marks: z.array(EntryMarkSchema),
      /** In words. */
      why: z.string(),
      /** When the turn of the first of them began, ISO 8601. */
      at: z.string(),
      /** What happened before that call, in words. */
      happened: z.array(z.string()),
    }),
  ),
});

export type Fate = z.infer<typeof FateSchema>;
export type EntryMark = z.infer<typeof EntryMarkSchema>;
export type FateCounts = z.infer<typeof FateCountsSchema>;
export type EntryRow = z.infer<typeof EntryRowSchema>;
export type EntryPage = z.infer<typeof EntryPageSchema>;
export type EntryText = z.infer<typeof EntryTextSchema>;
export type EntryTrace = z.infer<typeof EntryTraceSchema>;
