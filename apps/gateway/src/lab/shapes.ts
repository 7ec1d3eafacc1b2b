// The shapes in which a gateway tells what another engine would have sent.
import { z } from "zod";
import { Dollars, Tokens } from "../inspect/amounts.ts";
import { CallMarkSchema, CostSchema, SourceTokensSchema } from "../inspect/shapes/calls.ts";
import { FateCountsSchema } from "../inspect/shapes/entries.ts";
import { SMALLEST_WINDOW } from "../inspect/smallest-window.ts";

/** One recorded call as it would have been made by another engine or into another window. */
export const PlayedPointSchema = z.object({
  /** Among those that were played. */
  id: z.string(),
  /** The session's own call in whose place it stands; null = it is not known. */
  ofCall: z.string().nullable(),
  turn: z.int(),
  call: z.int(),
  /** Estimated. */
  tokens: SourceTokensSchema,
  promptBudget: Tokens.nullable(),
  isOverBudget: z.boolean(),
  /** What its provider's cache would have given back and taken. */
  cache: z.object({ read: Tokens, written: Tokens }),
  cost: CostSchema.nullable(),
  /** Of the stored entries then. */
  fates: FateCountsSchema,
  /** Names that the next replies go on to use, and how many of them the request holds. */
  evidence: z.object({ needed: z.int(), present: z.int() }),
  /** Of the engine, its turn's time shared out. */
  engineMs: z.number(),
  marks: z.array(CallMarkSchema),
});

/** What became of a recording. */
export const PlayedSchema = z.object({
  engine: z.object({
    asked: z.string(),
    /** The one that answered last. */
    ran: z.string(),
    /** Why another one than the chosen did; null = none did. */
    degraded: z.string().nullable(),
  }),
  model: z.string(),
  contextWindow: Tokens,
  turns: z.int(),
  compactions: z.int(),
  /** Recorded calls that were not made, because their turn had failed before. */
  callsNotMade: z.int(),
  failures: z.array(z.object({ turn: z.int(), reason: z.string() })),
  durationMs: z.number(),
  points: z.array(PlayedPointSchema),
});

/** What a session is to be tried with. */
export const WhatIfAskSchema = z.strictObject({
  /** Registered id; absent = the one that answers the session. */
  engine: z.string().min(1).optional(),
  /** Tokens; absent = the model's. */
  contextWindow: z.int().min(SMALLEST_WINDOW).optional(),
  /** "provider/model" whose rules and prices count; not called. Absent: the session's. */
  model: z.string().min(3).optional(),
});

/** A session as it was, beside what it would have been. */
export const WhatIfSchema = z.object({
  key: z.string(),
  sessionId: z.string(),
  asked: WhatIfAskSchema,
  /** Why nobody paid for its own calls, whose costs are reckoned all the same; null = they were. */
  unpaid: z.enum(["demo", "replayed"]).nullable(),
  /** By the session's reports; tokens are estimated, as those of `played` are. */
  asItWas: z.object({
    engine: z.string().nullable(),
    model: z.string().nullable(),
    contextWindow: Tokens.nullable(),
    /**
     * What its model counted for each token that was estimated, as was learned by the last call. By
     * it the played calls are measured and priced.
     */
    tokenRatio: z.number().positive(),
    calls: z.int(),
    /** Of those: without an answer, which are in no other figure but the cost. */
    unanswered: z.int(),
    tokens: z.object({ total: Tokens, median: Tokens, max: Tokens }),
    /** Each of them, oldest first; `expected` of one as below. */
    each: z.array(
      z.object({
        /** `cost`: of its own, without side calls. */
        ...{ id: z.string(), tokens: Tokens, cost: Dollars.nullable() },
        expected: Dollars.nullable(),
      }),
    ),
    /** As reckoned when they were made: the bill. Null: not known of some of them. */
    cost: CostSchema.nullable(),
    /**
     * Dollars, what those with a reply would have cost with the cache and the counts that the
     * played calls are reckoned with, summaries left aside: the figure to hold theirs against.
     * Null: not known of some of them.
     */
    expected: Dollars.nullable(),
  }),
  played: PlayedSchema,
});

/** What is told while it is played; "done" or "error" comes last. */
export const WhatIfEventSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("progress"), turn: z.int(), turns: z.int(), calls: z.int() }),
  z.object({ type: z.literal("done"), whatIf: WhatIfSchema }),
  z.object({
    type: z.literal("error"),
    error: z.object({ code: z.string(), message: z.string() }),
  }),
]);

export type WhatIf = z.infer<typeof WhatIfSchema>;
export type WhatIfEvent = z.infer<typeof WhatIfEventSchema>;
export type PlayedPoint = z.infer<typeof PlayedPointSchema>;
export type Played = z.infer<typeof PlayedSchema>;
export type WhatIfAsk = z.infer<typeof WhatIfAskSchema>;
