// `codex exec --json` as a program that is started once per turn.
import { join } from "node:path";
import type { ImageBlock } from "@clew/plugin-sdk/core";
import { z } from "zod";
import { planCodexHome } from "../codex/plan-home.ts";
import { codexEffort } from "../effort.ts";
import type { CliBackend, CliEvent, CliTurn } from "./backend.ts";
import { CodexUsageSchema, eventsOfItem } from "./codex-exec-lines.ts";

export const codexExec: CliBackend = {
  ...{ id: "codex-cli", name: "Codex", command: "codex", api: "openai-responses" },
  baseOf: (baseUrl) => baseUrl,
  ...{ install: "npm install -g @openai/codex", oldest: "0.145.0", usage: "session" },
  files: ({ instructions, provider, images }) => ({
    "config.toml": `developer_instructions = ${tomlString(instructions)}\n${planCodexHome(provider).config}`,
    ...Object.fromEntries(
      images.map((image, at) => [imageFile(image, at), Buffer.from(image.data, "base64")]),
    ),
  }),
  env: ({ folder, provider }) => ({
    ...planCodexHome(provider).env,
    CODEX_HOME: folder,
    HOME: folder,
  }),
  args: ({ config, cwd, model, ref, folder, images, effort }: CliTurn) => [
    ...["exec", "--sandbox", config.sandbox, "--cd", cwd],
    ...(ref === null ? [] : codexExec.resumeArgs(ref)),
    ...(effort === undefined ? [] : ["-c", `model_reasoning_effort="${codexEffort(effort)}"`]),
    // Joined to its value: the flag takes every word that follows it.
    ...images.map((image, at) => `--image=${join(folder, imageFile(image, at))}`),
    // "-": the prompt is read from stdin.
    ...["--json", "--skip-git-repo-check", "--model", model, "-"],
  ],
  resumeArgs: (ref) => ["resume", ref],
  // It does not begin without a word.
  stdin: ({ prompt }) => (prompt === "" ? "(no words)" : prompt),
  listens: () => false,
  parse,
  answer: () => "",
};

const imageFile = ({ mimeType }: ImageBlock, at: number): string =>
  `image-${at + 1}.${/^image\/(\w+)/.exec(mimeType)?.[1] ?? "bin"}`;

const LineSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("thread.started"), thread_id: z.string() }),
  z.object({ type: z.enum(["item.started", "item.completed"]), item: z.unknown() }),
  z.object({ type: z.literal("turn.completed"), usage: CodexUsageSchema.nullish().catch(null) }),
  z.object({
    type: z.literal("turn.failed"),
    error: z.object({ message: z.string() }).nullish(),
  }),
  z.object({ type: z.literal("error"), message: z.string() }),
]);

function parse(value: Record<string, unknown>): CliEvent[] {
  const read = LineSchema.safeParse(value);
  if (!read.success) return [];
  const line = read.data;
  switch (line.type) {
    case "thread.started":
      return [{ type: "started", ref: line.thread_id }];
    case "item.started":
    case "item.completed":
      return eventsOfItem(line.item, line.type === "item.completed");
    case "error":
      return [{ type: "notice", text: `Codex: ${line.message}` }];
    case "turn.completed":
      return [{ type: "end", error: null, usage: usageOfExec(line.usage) }];
    case "turn.failed": {
      const message = line.error?.message ?? "Codex says that the turn failed, and not why.";
      // There is no code beside the words, and words are not read.
      return [{ type: "end", error: { kind: "unavailable", message }, usage: null }];
    }
  }
}

function usageOfExec(told: z.infer<typeof CodexUsageSchema> | null | undefined) {
  if (told == null) return null;
  const { input_tokens: all, cached_input_tokens: cached, output_tokens: output } = told;
  const written = told.cache_write_input_tokens;
  return {
    input: Math.max(0, all - cached - written),
    ...{ output, cacheRead: cached, cacheWrite: written, totalTokens: all + output },
  };
}

/** Its escapes are those of JSON, but for two things that JSON lets through. */
const tomlString = (text: string): string =>
  JSON.stringify(text.toWellFormed()).replaceAll("\u007f", "\\u007f");
