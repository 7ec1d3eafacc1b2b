// The settings of the memory flush, `agents.defaults.compaction.memoryFlush`.
import { z } from "zod";

const BYTES = /^\s*(\d+(?:\.\d+)?)\s*(b|kb|kib|mb|mib|gb|gib)?\s*$/i;
const UNITS = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** Of a number, or of text such as "2mb"; undefined = it says nothing. */
export function bytesIn(given: number | string | undefined): number | undefined {
  if (typeof given !== "string") return given;
  const [, count, unit = "b"] = BYTES.exec(given) ?? [];
  if (count === undefined) return undefined;
  return Math.round(Number(count) * UNITS[unit[0]!.toLowerCase() as keyof typeof UNITS]);
}

export const MemoryFlushConfigSchema = z.looseObject({
  enabled: z
    .boolean()
    .default(true)
    .describe("False: the model is not asked to store anything before a compaction."),
  softThresholdTokens: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe(
      "It is asked this many tokens before the compaction. Absent: as the plugin says, else 4000.",
    ),
  forceFlushTranscriptBytes: z
    .union([z.number().int().min(0), z.string().regex(BYTES, 'must be a number or as in "2mb"')])
    .optional()
    .describe(
      "It is asked as soon as the session file has this many bytes; 0 = never for that. Absent: as the plugin says, else 2 MiB.",
    ),
  timeoutSeconds: z
    .number()
    .positive()
    .default(120)
    .describe("Most time it is given; then the compaction goes on without."),
  prompt: z.string().optional().describe("What it is asked. Absent: as the plugin says."),
  systemPrompt: z
    .string()
    .optional()
    .describe("Follows the system prompt then. Absent: as the plugin says."),
});
export type MemoryFlushConfig = z.infer<typeof MemoryFlushConfigSchema>;
