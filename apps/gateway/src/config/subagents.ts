// The settings of child sessions, `agents.defaults.subagents`.
import { z } from "zod";

const count = z.number().int().positive();

export const SubagentsConfigSchema = z.object({
  enabled: z
    .boolean()
    .default(true)
    .describe("False: models are offered no tools that start sessions, or talk to others."),
  maxSpawnDepth: z
    .number()
    .int()
    .min(0)
    .default(2)
    .describe("How many generations of child sessions there may be; 0 = none."),
  maxChildrenPerAgent: count
    .default(5)
    .describe("How many child sessions of one session may run at once."),
  maxConcurrent: count
    .default(8)
    .describe("How many child sessions may run at once, whoever started them."),
  runTimeoutSeconds: count
    .default(600)
    .describe("How long a child session may run, in seconds, unless its spawn says less."),
});
export type SubagentsConfig = z.infer<typeof SubagentsConfigSchema>;
