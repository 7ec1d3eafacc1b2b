// How much may be spent on model calls, `gateway.costCaps`.
import { z } from "zod";

const dollars = z.number().positive("must be more than 0 dollars");

export const CostCapsSchema = z.object({
  sessionDollars: dollars
    .optional()
    .describe(
      "Most that one session may cost, with all that it starts, in US dollars; unset = any.",
    ),
  agentDayDollars: dollars
    .optional()
    .describe("Most that one agent may cost in a day of this machine's calendar; unset = any."),
  dayDollars: dollars
    .optional()
    .describe("Most that all agents together may cost in such a day; unset = any."),
  warnShare: z
    .number()
    .min(0)
    .max(1)
    .default(0.8)
    .describe("Share of a cap at which it is said once that it comes near; 1 = never."),
});
export type CostCaps = z.infer<typeof CostCapsSchema>;
