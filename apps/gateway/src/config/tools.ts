// The settings of tools that change something, `tools`.
import { z } from "zod";

const DAY_MS = 24 * 60 * 60 * 1000;

const use = (what: string) =>
  z
    .enum(["off", "ask", "allow"])
    .default("off")
    .describe(
      `Whether agents may ${what} their workspace: not at all, after a person allowed it, or always.`,
    );

export const ToolsConfigSchema = z.object({
  write: use("write and edit files of"),
  shell: use("run commands in"),
  shellTimeoutMs: z
    .number()
    .int()
    .min(100)
    .max(DAY_MS)
    .default(120_000)
    .describe("How long a command may run, in milliseconds; then it and what it began are ended."),
  shellEnv: z
    .array(
      z
        .string()
        .regex(/^[A-Za-z_][A-Za-z0-9_]*\*?$/, 'must be the name of a variable, or "PREFIX_*"'),
    )
    .default([])
    .describe(
      'Variables that commands are given beside the usual ones, such as PATH and those of compilers: a name, or "PREFIX_*" for all but what sounds like a key.',
    ),
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
