// The settings of what is remembered across sessions, `memory`.
import { z } from "zod";

export const MemoryConfigSchema = z.object({
  citations: z
    .enum(["auto", "on", "off"])
    .default("auto")
    .describe(
      "Whether answers name the place a memory stands at; auto = as the memory plugin decides, and memory_search names it.",
    ),
});
export type MemoryConfig = z.infer<typeof MemoryConfigSchema>;
