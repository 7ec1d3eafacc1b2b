// The settings of sessions, `session`.
import { z } from "zod";

export const SessionConfigSchema = z.object({
  historyLimit: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Newest turns shown to the engine; unset = all."),
  recall: z
    .boolean()
    .default(true)
    .describe(
      "False: models are not offered session_search and session_read, which find and read what is no longer shown.",
    ),
  mainKey: z
    .string()
    .min(1)
    .default("main")
    .describe("Name of the session that is used when none is named."),
});
export type SessionConfig = z.infer<typeof SessionConfigSchema>;
