// The settings of sessions, `session`.
import { z } from "zod";
import { WHEN_BUSY, WHEN_BUSY_NAMES } from "./when-busy.ts";

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
  whenBusy: z
    .enum(WHEN_BUSY, { error: `must be ${WHEN_BUSY_NAMES}` })
    .default("follow")
    .describe(
      'A message that comes while a reply is being written: "follow" has its turn afterwards, "steer" is shown to the model after its next tool result, "refuse" is refused (409).',
    ),
  mainKey: z
    .string()
    .min(1)
    .default("main")
    .describe("Name of the session that is used when none is named."),
});
export type SessionConfig = z.infer<typeof SessionConfigSchema>;
