// The settings of tools that change something, `tools`.
import { z } from "zod";

const DAY_MS = 24 * 60 * 60 * 1000;

export const ToolsConfigSchema = z.object({
  approval: z
    .object({
      expireMs: z
        .number()
        .int()
        .min(0)
        .max(DAY_MS)
        .default(300_000)
        .describe(
          "How long a turn waits for a person to allow a tool, in milliseconds; 0 = nobody is asked, and the answer is no.",
        ),
    })
    .prefault({})
    .describe("How people are asked before a tool changes something."),
});
export type ToolsConfig = z.infer<typeof ToolsConfigSchema>;
