// What the log keeps, `logging`.
import { z } from "zod";

export const LoggingConfigSchema = z.object({
  level: z
    .enum(["info", "warn", "error"])
    .default("info")
    .describe("The least that is written down."),
  maxFileBytes: z
    .number()
    .int()
    .min(64 * 1024)
    .default(5 * 1024 * 1024)
    .describe("Bytes of a log file, after which another one is begun."),
  keepFiles: z.number().int().min(0).max(1000).default(3).describe("Older files that are kept."),
  keepDays: z
    .number()
    .int()
    .min(1)
    .max(36_500)
    .default(30)
    .describe("Days after which an older file is removed."),
});
export type LoggingConfig = z.infer<typeof LoggingConfigSchema>;
