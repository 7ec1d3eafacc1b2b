// The settings of programs that run agents' turns, `harness`.
import { z } from "zod";

/** Of the runner that is no program of its own. */
export const EMBEDDED_HARNESS = "embedded";

export const harnessName = z
  .string()
  .trim()
  .min(1)
  .describe(
    'Which program runs its turns: "embedded" = the gateway itself, "codex", or the name of one in harness.backends.',
  );

export const HarnessConfigSchema = z.object({});
export type HarnessConfig = z.infer<typeof HarnessConfigSchema>;
