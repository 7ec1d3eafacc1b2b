// The settings of programs that run agents' turns, `harness`.
import { z } from "zod";

/** Of the runner that is no program of its own. */
export const EMBEDDED_HARNESS = "embedded";

export const harnessName = z
  .string()
  .trim()
  .min(1)
  .describe(
    'Which program runs its turns: "embedded" = the gateway itself, "codex", "codex-cli", "claude-cli", or the name of one in harness.backends.',
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

/** Programs that are started once per turn, by the names under which they need no settings. */
export const CLI_KINDS = ["codex-cli", "claude-cli"] as const;
export type CliKind = (typeof CLI_KINDS)[number];

const seconds = (most: number) => z.number().positive().default(most);

export const CliBackendConfigSchema = z.object({
  kind: z
    .enum(CLI_KINDS)
    .optional()
    .describe(
      "Which program it is: codex exec, or claude -p; unset = the one after which it is called.",
    ),
  command: z
    .string()
    .min(1)
    .optional()
    .describe("The program, by name or path; unset = codex or claude, as PATH finds it."),
  sandbox: z
    .enum(["read-only", "workspace-write", "danger-full-access"])
    .default("read-only")
    .describe("In which sandbox codex-cli runs its commands; it asks nobody."),
  permissions: z
    .enum(["ask", "deny"])
    .default("ask")
    .describe(
      "What claude-cli does that needs a permission: people are asked where they are asked for other tools, or it is not done.",
    ),
  env: z
    .array(z.string().min(1))
    .default([])
    .describe("Names of further environment variables that it is given."),
  startSeconds: seconds(60).describe("How long it may take to say something at all, in seconds."),
  silenceSeconds: seconds(300).describe("How long it may say nothing in a turn, in seconds."),
  turnSeconds: seconds(3600).describe("How long a whole turn may take, in seconds."),
  maxOutputMegabytes: z
    .number()
    .positive()
    .default(256)
    .describe("How much it may write in a turn, in MiB; then it is ended."),
});
export type CliBackendConfig = z.infer<typeof CliBackendConfigSchema>;

const isCliKind = (name: string): name is CliKind => CLI_KINDS.some((kind) => kind === name);

const BackendsSchema = z
  .record(
    z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/)
      .refine((name) => name !== EMBEDDED_HARNESS && name !== "codex", "is taken"),
    CliBackendConfigSchema,
  )
  .superRefine((backends, context) => {
    for (const [name, { kind }] of Object.entries(backends))
      if (kind === undefined && !isCliKind(name))
        context.addIssue({
          code: "custom",
          path: [name, "kind"],
          message: `say which program it is: ${CLI_KINDS.join(" or ")}`,
        });
  });

/** Pure. Every program of this kind that agents may name. */
export function cliBackends({
  backends,
}: HarnessConfig): { id: string; kind: CliKind; config: CliBackendConfig }[] {
  const own = Object.entries(backends).flatMap(([id, config]) => {
    const kind = config.kind ?? (isCliKind(id) ? id : undefined);
    return kind === undefined ? [] : [{ id, kind, config }];
  });
  const unset = CLI_KINDS.filter((kind) => !Object.hasOwn(backends, kind));
  const config = CliBackendConfigSchema.parse({});
  return [...unset.map((kind) => ({ id: kind, kind, config })), ...own];
}

export const HarnessConfigSchema = z.object({
  backends: BackendsSchema.default({}).describe(
    "Programs that are started once per turn, by the name that agents choose them with.",
  ),
  codex: CodexConfigSchema.prefault({}).describe("Codex, by its app-server."),
});
export type HarnessConfig = z.infer<typeof HarnessConfigSchema>;

/** Pure. Every name that an agent may run in. */
export const harnessIds = (config: HarnessConfig): string[] => [
  ...[EMBEDDED_HARNESS, "codex"],
  ...cliBackends(config).map(({ id }) => id),
];
