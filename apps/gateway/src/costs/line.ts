// What is written down of money spent, a line for each thing that happened.
import { z } from "zod";
import { fromJson } from "../own-json.ts";
import { CostSchema } from "./cost.ts";

const count = z.number().nonnegative();
const who = {
  v: z.literal(1),
  /** ISO 8601. */
  at: z.string(),
  agent: z.string(),
  session: z.string(),
  /** The session that nobody started, from which this one comes: its cap counts. */
  root: z.string(),
  /** Registered id; null = none had to do with it. */
  engine: z.string().nullable(),
  /** "provider/model". */
  model: z.string(),
};

export const PURPOSES = ["reply", "compaction", "engine", "plugin", "memory"] as const;
/** What a model was asked for; all but replies are side calls. */
export type Purpose = (typeof PURPOSES)[number];

export const WASTE_CAUSES = ["broken-prefix", "after-pause", "re-sent", "over-full"] as const;
/**
 * What was paid, or sent, for nothing: tokens that stood the same in the last call of the model and
 * came from no cache, "after-pause" before anything that changed and forgotten by then,
 * "broken-prefix" the others · "re-sent" calls that failed or had to be repeated ·
 * "over-full" calls refused as too large.
 */
export type WasteCause = (typeof WASTE_CAUSES)[number];

/** Written before the request leaves: whoever dies in the call leaves no other trace of it. */
const BegunSchema = z.object({
  kind: z.literal("begun"),
  ...who,
  /** That of the line that tells how it ended. */
  id: z.string(),
});

const CallSchema = z.object({
  kind: z.literal("call"),
  ...who,
  /** Of the line that told that it began. Absent: there is none. */
  id: z.string().optional(),
  for: z.enum(PURPOSES),
  /** Who asked; null = the host. */
  plugin: z.string().nullable(),
  ...{ input: count, cacheRead: count, cacheWrite: count, output: count },
  /**
   * Its provider did not say what it counted, as of a call that broke off: tokens and cost are
   * estimated by what was sent and had arrived. Absent: they are its provider's.
   */
  isEstimated: z.literal(true).optional(),
  /** Null: not known. */
  cost: CostSchema.nullable(),
  /** How it failed; null = there is an answer. */
  failure: z.string().nullable(),
});

const WasteSchema = z.object({
  kind: z.literal("waste"),
  ...who,
  cause: z.enum(WASTE_CAUSES),
  calls: count,
  tokens: count,
  /** Null: not known. */
  dollars: count.nullable(),
});

/** A session began anew under its name; what it was is called otherwise from here on. */
const RenewedSchema = z.object({
  ...{ kind: z.literal("renewed"), v: z.literal(1), at: z.string() },
  ...{ session: z.string(), archivedAs: z.string().nullable() },
});

/** A session is gone; whoever takes its name begins with nothing spent. */
const DeletedSchema = z.object({
  ...{ kind: z.literal("deleted"), v: z.literal(1), at: z.string(), session: z.string() },
});

const LineSchema = z.discriminatedUnion("kind", [
  BegunSchema,
  CallSchema,
  WasteSchema,
  RenewedSchema,
  DeletedSchema,
  /** A recording was played into a session: no model was asked for it, so it cost nothing. */
  z.object({
    ...{ kind: z.literal("played"), v: z.literal(1), at: z.string(), session: z.string() },
  }),
  /** Somebody was told that a cap comes near; `cap` names it with whom it is for. */
  z.object({
    ...{ kind: z.literal("warned"), v: z.literal(1), at: z.string(), cap: z.string() },
  }),
]);

export type BegunLine = z.infer<typeof BegunSchema>;
export type CallLine = z.infer<typeof CallSchema>;
export type WasteLine = z.infer<typeof WasteSchema>;
export type RenewedLine = z.infer<typeof RenewedSchema>;
export type DeletedLine = z.infer<typeof DeletedSchema>;
export type CostLine = z.infer<typeof LineSchema>;

/** Undefined: torn, or of a later version. */
export function parseLine(text: string): CostLine | undefined {
  try {
    return LineSchema.safeParse(fromJson(text)).data;
  } catch {
    return undefined;
  }
}

/** The day of this machine's calendar, as YYYY-MM-DD. `at`: ms since the epoch. */
export function dayOf(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
