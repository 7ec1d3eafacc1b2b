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

export const CodexConfigSchema = z.object({
  command: z
    .string()
    .min(1)
    .optional()
    .describe("The program, by name or path; unset = codex, as PATH finds it."),
  projection: z
    .enum(["items", "quoted"])
    .default("items")
    .describe(
      'How the context enters a thread: as messages of their own, or "quoted" in front of the request.',
    ),
  sandbox: z
    .enum(["off", "read-only", "workspace-write", "danger-full-access"])
    .default("off")
    .describe(
      "Whether Codex may run commands of its own in the agent's workspace, and in which sandbox; off = it has the gateway's tools alone.",
    ),
  approvalPolicy: z
    .enum(["untrusted", "on-request", "never"])
    .default("untrusted")
    .describe(
      "When Codex asks before it runs a command of its own or changes a file; people answer where they answer for other tools.",
    ),
  deleteOldThreads: z
    .boolean()
    .default(true)
    .describe("Whether Codex deletes a thread of ours once another one took its place."),
  silenceSeconds: z
    .number()
    .int()
    .positive()
    .default(300)
    .describe("How long Codex may say nothing in a turn, in seconds; then it is ended."),
});
export type CodexConfig = z.infer<typeof CodexConfigSchema>;

export const HarnessConfigSchema = z.object({
  codex: CodexConfigSchema.prefault({}).describe("Codex, by its app-server."),
});
export type HarnessConfig = z.infer<typeof HarnessConfigSchema>;
