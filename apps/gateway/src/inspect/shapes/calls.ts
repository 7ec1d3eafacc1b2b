// The shapes in which a gateway tells of the model calls of a session, a row each.
import { z } from "zod";
import { WASTE_CAUSES } from "../../costs/line.ts";
import { Dollars, Tokens } from "../amounts.ts";
import { FateCountsSchema } from "./entries.ts";

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

export type SourceTokens = z.infer<typeof SourceTokensSchema>;
export type CallMark = z.infer<typeof CallMarkSchema>;
export type Cost = z.infer<typeof CostSchema>;
export type CallWaste = z.infer<typeof CallWasteSchema>;
export type CallRow = z.infer<typeof CallRowSchema>;
export type MissingTurn = z.infer<typeof MissingTurnSchema>;
export type Peaks = z.infer<typeof PeaksSchema>;
export type CallPage = z.infer<typeof CallPageSchema>;
