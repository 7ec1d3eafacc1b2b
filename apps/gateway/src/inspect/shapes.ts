// The shapes in which a gateway tells what models saw.
import { z } from "zod";
import { WASTE_CAUSES } from "../costs/line.ts";
import { Dollars, Tokens } from "./amounts.ts";

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

/** What a request consists of, by where it comes from; together `total`. */
export const SourceTokensSchema = z.object({
  system: Tokens,
  tools: Tokens,
  summaries: Tokens,
  /** Messages of persons, and the prompt. */
  messages: Tokens,
  replies: Tokens,
  toolOutput: Tokens,
  /** Notes by the host, plugins and engines. */
  notes: Tokens,
  /**
   * What a program that made the request added to what it was handed: instructions and tools of its
   * own, and what its own session holds. What was counted and is nothing of the others.
   */
  program: Tokens,
  total: Tokens,
});

/** What there is to see at a call in a timeline. */
export const CallMarkSchema = z.enum([
  "compaction",
  "prune",
  "overflow",
  "cache-broken",
  "degraded",
  "failed",
  /** By a person or a program that wanted no more of it. */
  "stopped",
  "fallback",
  /** Nobody can tell what it was sent, or that of a call before it: a report is damaged. */
  "lost",
]);

export const CostSchema = z.object({
  input: Dollars,
  cacheRead: Dollars,
  cacheWrite: Dollars,
  output: Dollars,
  /** Side calls: of a call those before it, and after its turn's last one. */
  summariser: Dollars,
  /** With side calls: without `summariser` it is what the call itself cost. */
  total: Dollars,
});

/** What a call paid, or sent, for nothing; part of its cost, not beside it. */
export const CallWasteSchema = z.object({
  /**
   * Tokens that stood the same in the last call of the model and were not read from a cache:
   * "after-pause" before anything that changed, forgotten by then · "broken-prefix" the others ·
   * "re-sent": it failed or had to be repeated · "over-full": it was refused as too large.
   */
  cause: z.enum(WASTE_CAUSES),
  tokens: Tokens,
  /** Null: not known. */
  dollars: Dollars.nullable(),
});

/** One model call as a row. */
export const CallRowSchema = z.object({
  /** "58.3": the third call of the session's 58th turn. Never names another call. */
  id: z.string(),
  turn: z.int(),
  call: z.int(),
  turnId: z.string(),
  /** The entry that began the turn; null = none did. */
  promptEntryId: z.string().nullable(),
  /** When the turn began, ISO 8601. */
  startedAt: z.string(),
  durationMs: z.number(),
  /** "call": the model is answering it · "turn": its turn goes on, so more may come of it. */
  running: z.enum(["call", "turn"]).nullable(),
  model: z.string(),
  engine: z.string(),
  /** Why the reply ended, "error" and "aborted" included; null = it is being written. */
  stopReason: z.string().nullable(),
  error: z.string().nullable(),
  /**
   * Estimated; shared out so that `total` is what the provider counted where it did. A call without
   * an answer that nobody counted is in no sum of what was sent.
   */
  tokens: SourceTokensSchema,
  /** What the host estimated of it in all; the same as `tokens.total` where nobody counted. */
  estimatedTokens: Tokens,
  isCounted: z.boolean(),
  promptBudget: Tokens.nullable(),
  contextWindow: Tokens.nullable(),
  outputTokens: Tokens.nullable(),
  cache: z
    .object({
      predicted: Tokens,
      read: Tokens.nullable(),
      written: Tokens.nullable(),
      broke: z.string().nullable(),
    })
    .nullable(),
  /** Estimated, where its provider did not count it. Null: prices or counts are not known. */
  cost: CostSchema.nullable(),
  waste: z.array(CallWasteSchema),
  fates: FateCountsSchema,
  marks: z.array(CallMarkSchema),
  /** What happened before it, in words: "compaction: 1,240 entries → 5,678 tokens". */
  happened: z.array(z.string()),
  requestHash: z.string(),
  /**
   * Why nobody can tell which messages were sent: a report before it is damaged. Then tokens and
   * fates are 0. Null: it can be told.
   */
  lost: z.string().nullable(),
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

/** A turn that has no report: the gateway ended in it, or its report was lost. */
export const MissingTurnSchema = z.object({
  /** Its ordinal; null = nobody knows it. */
  turn: z.int().nullable(),
  /** The entry that began it; null, as all that follows = it is not on the branch. */
  promptEntryId: z.string().nullable(),
  /** When it began, ISO 8601. */
  at: z.string().nullable(),
  /** Stored replies of models. */
  replies: z.int().nullable(),
  /** Model calls that were paid, and what they cost; null = it is not known. */
  calls: z.int().nullable(),
  /** Further ones, which began and of whose end nothing is written down. */
  unended: z.int(),
  cost: CostSchema.nullable(),
});

/** Calls of a session that stand out; null = nobody can tell which. */
export const PeaksSchema = z.object({
  /** The one that cost most of its own, without the side calls before it. */
  dearest: z.object({ id: z.string(), dollars: Dollars }).nullable(),
  /** The one that took the largest share of its budget. */
  fullest: z.object({ id: z.string(), tokens: Tokens, promptBudget: Tokens }).nullable(),
});

/** Rows of calls, oldest first. */
export const CallPageSchema = z.object({
  calls: z.array(CallRowSchema),
  /** All there are. */
  total: z.int(),
  /** Of all there are: calls, the turns that made them, and tokens that were sent with them. */
  sums: z.object({ calls: z.int(), turns: z.int(), sent: Tokens }),
  /** Of all there are. */
  peaks: PeaksSchema,
  /** What to ask for next as `after`, or as `before` where that was asked for; null = no more. */
  next: z.string().nullable(),
  /**
   * What happened since the newest call, which the next call's row will tell: side calls, as by a
   * `/compact`, with what they cost (null: not known of one), and why messages had no reply without
   * a model being asked.
   */
  since: z.object({
    sideCalls: z.int(),
    cost: CostSchema.nullable(),
    unanswered: z.array(z.string()),
  }),
  /** Turns whose reports nobody can read: their calls are not among these. */
  unreadableTurns: z.array(z.int()),
  /** Turns that have no report; their calls are not among these either. Oldest first. */
  missingTurns: z.array(MissingTurnSchema),
  /** So many turns, from the first on, were let go, as gateway.limits.reportBytes says. */
  letGoTurns: z.int(),
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

export type SummaryFacts = z.infer<typeof SummaryFactsSchema>;
export type CallPage = z.infer<typeof CallPageSchema>;
export type Peaks = z.infer<typeof PeaksSchema>;
export type MissingTurn = z.infer<typeof MissingTurnSchema>;
export type ItemPage = z.infer<typeof ItemPageSchema>;
export type Proof = z.infer<typeof ProofSchema>;
export type EntryPage = z.infer<typeof EntryPageSchema>;
export type EntryText = z.infer<typeof EntryTextSchema>;
export type ItemText = z.infer<typeof ItemTextSchema>;
export type RebuiltRequest = z.infer<typeof RebuiltRequestSchema>;
export type EntryTrace = z.infer<typeof EntryTraceSchema>;
export type FoundText = z.infer<typeof FoundTextSchema>;
export type Fate = z.infer<typeof FateSchema>;
export type EntryMark = z.infer<typeof EntryMarkSchema>;
export type FateCounts = z.infer<typeof FateCountsSchema>;
export type SourceTokens = z.infer<typeof SourceTokensSchema>;
export type CallMark = z.infer<typeof CallMarkSchema>;
export type Cost = z.infer<typeof CostSchema>;
export type CallWaste = z.infer<typeof CallWasteSchema>;
export type CallRow = z.infer<typeof CallRowSchema>;
export type EntryRow = z.infer<typeof EntryRowSchema>;
export type SentItem = z.infer<typeof SentItemSchema>;
export type SummaryRow = z.infer<typeof SummaryRowSchema>;
export type CallView = z.infer<typeof CallViewSchema>;
export type CallDiff = z.infer<typeof CallDiffSchema>;
