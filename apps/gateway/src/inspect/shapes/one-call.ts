// The shapes in which a gateway tells what one model call sent.
import { z } from "zod";
import { Tokens } from "../amounts.ts";
import { CallRowSchema } from "./calls.ts";
import { EntryMarkSchema } from "./entries.ts";

/** One thing that was sent. */
export const SentItemSchema = z.object({
  /** Place in its part. */
  index: z.int(),
  part: z.enum(["system", "tools", "messages"]),
  source: z.object({ kind: z.string(), name: z.string() }),
  role: z.string().nullable(),
  /** The entry it is or is made from. */
  entryId: z.string().nullable(),
  number: z.int().nullable(),
  summaryId: z.string().nullable(),
  reason: z.string(),
  engineReason: z.string().nullable(),
  /** True: the thread of the program that made the call held it already. */
  isHeld: z.boolean(),
  /** Its part of what its source takes in the call's row: together they are the row's total. */
  tokens: Tokens,
  hash: z.string(),
  marks: z.array(EntryMarkSchema),
  isFromCache: z.boolean().nullable(),
  preview: z.string(),
  chars: z.int(),
});

const HeldSchema = z.object({ all: z.int(), held: z.int() });

/**
 * Exact names and numbers that the covered messages say, and how many of them stand in the summary
 * letter by letter. Counted by code: what it says in other words is missing.
 */
export const SummaryFactsSchema = HeldSchema.extend({
  kinds: z.object({
    ...{ paths: HeldSchema, symbols: HeldSchema, ids: HeldSchema, numbers: HeldSchema },
  }),
  /** Some that are missing, those that were said most often first. */
  missing: z.array(z.string()),
});

/** A summary that stood in a call. */
export const SummaryRowSchema = z.object({
  summaryId: z.string(),
  /** "compaction" of the host, or the engine that made it. */
  by: z.string(),
  tokens: Tokens,
  /** Numbers of the first and last entry that it covers; null = its engine does not say. */
  covers: z.object({ from: z.int(), to: z.int(), entries: z.int() }).nullable(),
  /** Null: nobody knows what it covers, or only some of a call was asked for. */
  facts: SummaryFactsSchema.nullable(),
  /** Summaries that it was made from. */
  sources: z.array(z.string()),
  text: z.string(),
});

/** Whether the request of a call can be made again to the byte. */
export const ProofSchema = z.object({
  isSame: z.boolean(),
  /** Null: it is. */
  why: z.string().nullable(),
});

/** One call in full. */
export const CallViewSchema = z.object({
  row: CallRowSchema,
  /** Why these entries: engine, budget, policy, planner; a sentence each. */
  why: z.array(z.string()),
  /** All, or the first so many as were asked for. */
  items: z.array(SentItemSchema),
  /** How many there are. */
  parts: z.object({ system: z.int(), tools: z.int(), messages: z.int() }),
  summaries: z.array(SummaryRowSchema),
  /** Null: only some of the items were asked for. */
  rebuilt: ProofSchema.nullable(),
});

/** Some of the things that a call sent, in the order of the wire. */
export const ItemPageSchema = z.object({ items: z.array(SentItemSchema), total: z.int() });

/** What became different from call `from` to call `to`. */
export const CallDiffSchema = z.object({
  from: CallRowSchema,
  to: CallRowSchema,
  /** The beginning that both have. */
  prefix: z.object({ items: z.int(), tokens: Tokens, share: z.number() }),
  /**
   * Tokens that what both have counts more (+) or less (−) in `to`: each call has a scale of its
   * own. With what was added, removed and changed they are what `to` has more than `from`.
   */
  recounted: z.int(),
  added: z.array(SentItemSchema),
  /** `why`: who took it, and what it is now. */
  removed: z.array(z.object({ item: SentItemSchema, why: z.string() })),
  changed: z.array(z.object({ before: SentItemSchema, after: SentItemSchema, why: z.string() })),
});

/** The whole text of one thing that was sent. */
export const ItemTextSchema = z.object({
  item: SentItemSchema,
  text: z.string(),
  /** What the transcript holds instead; null = it says the same, or there is nothing stored. */
  before: z.string().nullable(),
});

/** A request as it was made, made again. */
export const RebuiltRequestSchema = z.object({
  id: z.string(),
  model: z.string(),
  system: z.array(z.string()),
  tools: z.array(z.unknown()),
  /** As the host handed them to the provider's driver. */
  messages: z.array(z.unknown()),
  /** As recorded. */
  requestHash: z.string(),
  /** Of what stands here; null = it could not be made again. */
  rebuiltHash: z.string().nullable(),
  isSame: z.boolean(),
  /** Null: it is. */
  why: z.string().nullable(),
});

export type SentItem = z.infer<typeof SentItemSchema>;
export type SummaryFacts = z.infer<typeof SummaryFactsSchema>;
export type SummaryRow = z.infer<typeof SummaryRowSchema>;
export type Proof = z.infer<typeof ProofSchema>;
export type CallView = z.infer<typeof CallViewSchema>;
export type ItemPage = z.infer<typeof ItemPageSchema>;
export type CallDiff = z.infer<typeof CallDiffSchema>;
export type ItemText = z.infer<typeof ItemTextSchema>;
export type RebuiltRequest = z.infer<typeof RebuiltRequestSchema>;
