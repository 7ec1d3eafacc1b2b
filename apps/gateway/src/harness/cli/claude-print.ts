// `claude -p --output-format stream-json` as a program that is started once per turn.
import { join } from "node:path";
import type { Usage } from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import { z } from "zod";
import { kindOfStatus, recordOf } from "../codex/told.ts";
import type { CliBackend, CliEnd, CliEvent, CliTurn } from "./backend.ts";

const INSTRUCTIONS = "instructions.md";

export const claudePrint: CliBackend = {
  ...{ id: "claude-cli", name: "Claude Code", command: "claude", api: "anthropic-messages" },
  // It says the version itself.
  baseOf: (baseUrl) => baseUrl.replace(/\/v1$/, ""),
  ...{ install: "npm install -g @anthropic-ai/claude-code", oldest: "2.1.0", usage: "turn" },
  files: ({ instructions }) => ({ [INSTRUCTIONS]: instructions }),
  env: ({ folder, effort, provider: { baseUrl, key } }) => ({
    ...{ HOME: folder, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
    ...{ ANTHROPIC_BASE_URL: baseUrl, ANTHROPIC_API_KEY: key },
    ...thinkingOf(effort),
  }),
  args: ({ ref, folder, model, canAsk, images, instructions }: CliTurn) => [
    ...["-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"],
    ...["--bare", "--strict-mcp-config", "--model", model],
    ...(readsLines({ canAsk, images }) ? ["--input-format", "stream-json"] : []),
    ...(canAsk ? ["--permission-prompt-tool", "stdio"] : []),
    ...(instructions === "" ? [] : ["--append-system-prompt-file", join(folder, INSTRUCTIONS)]),
    ...(ref === null ? [] : claudePrint.resumeArgs(ref)),
  ],
  resumeArgs: (ref) => ["--resume", ref],
  stdin: (turn) =>
    readsLines(turn)
      ? line({ type: "user", message: { role: "user", content: contentOf(turn) } })
      : turn.prompt,
  listens: ({ canAsk }) => canAsk,
  parse,
  answer: ({ id, args }, allowed) =>
    line({
      type: "control_response",
      response: {
        ...{ subtype: "success", request_id: id },
        response: allowed
          ? { behavior: "allow", updatedInput: args }
          : { behavior: "deny", message: "A person did not allow it." },
      },
    }),
};

/** Models of today are told a word, those before a number of tokens. */
const thinkingOf = (effort: string | undefined): Record<string, string> => {
  if (effort === undefined) return {};
  if (effort === "off") return { MAX_THINKING_TOKENS: "0" };
  const level = effort === "minimal" ? "low" : effort;
  return { CLAUDE_CODE_EFFORT_LEVEL: level, MAX_THINKING_TOKENS: BUDGETS[level] ?? "31999" };
};
const BUDGETS: Readonly<Record<string, string>> = { low: "2048", medium: "8192", high: "16384" };

/** Nothing but words comes without lines. */
const readsLines = ({ canAsk, images }: Pick<CliTurn, "canAsk" | "images">): boolean =>
  canAsk || images.length > 0;

const contentOf = ({ prompt, images }: CliTurn): object[] => [
  ...(prompt === "" ? [] : [{ type: "text", text: prompt }]),
  ...images.map(({ mimeType, data }) => ({
    ...{ type: "image", source: { type: "base64", media_type: mimeType, data } },
  })),
];

const line = (value: object): string => `${JSON.stringify(value)}\n`;

const count = z
  .number()
  .nonnegative()
  .nullish()
  .transform((told) => told ?? 0);
const UsageSchema = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
});

/** Of subagents: what they do is their caller's business. */
const parent = z.string().nullish();
const BlocksSchema = z.array(z.looseObject({ type: z.string() }));
const LineSchema = z.discriminatedUnion("type", [
  z.object({
    ...{ type: z.literal("system"), subtype: z.string(), session_id: z.string().nullish() },
    compact_metadata: z
      .object({
        trigger: z.string().nullish(),
        pre_tokens: z.number().nullish(),
        post_tokens: z.number().nullish(),
      })
      .nullish(),
  }),
  z.object({
    ...{ type: z.literal("assistant"), parent_tool_use_id: parent },
    is_api_error_message: z.boolean().nullish(),
    message: z.object({
      id: z.string(),
      content: BlocksSchema,
      usage: UsageSchema.nullish().catch(null),
    }),
  }),
  z.object({
    ...{ type: z.literal("user"), parent_tool_use_id: parent },
    message: z.object({ content: z.union([z.string(), BlocksSchema]) }),
  }),
  z.object({
    ...{ type: z.literal("stream_event"), parent_tool_use_id: parent },
    event: z.looseObject({ type: z.string(), delta: z.unknown() }),
  }),
  z.object({
    ...{ type: z.literal("control_request"), request_id: z.string() },
    request: z.looseObject({ subtype: z.string() }),
  }),
  z.object({
    ...{ type: z.literal("result"), is_error: z.boolean() },
    subtype: z.string().nullish(),
    result: z.string().nullish(),
    errors: z.array(z.string()).nullish(),
    terminal_reason: z.string().nullish(),
    api_error_status: z.number().nullish(),
    usage: UsageSchema.nullish().catch(null),
  }),
]);
type Line = z.infer<typeof LineSchema>;

function parse(value: Record<string, unknown>): CliEvent[] {
  const read = LineSchema.safeParse(value);
  if (!read.success) return [];
  const told = read.data;
  if ("parent_tool_use_id" in told && told.parent_tool_use_id != null) return [];
  switch (told.type) {
    case "system":
      return systemEvents(told);
    case "assistant":
      return assistantEvents(told);
    case "user":
      return typeof told.message.content === "string" ? [] : told.message.content.flatMap(resultIn);
    case "stream_event":
      return deltaIn(told.event.type, recordOf(told.event.delta));
    case "control_request": {
      const { subtype, tool_name: name, input, tool_use_id: callId } = told.request;
      if (subtype !== "can_use_tool" || typeof name !== "string") return [];
      return [
        {
          ...{ type: "ask", id: told.request_id, name, args: recordOf(input) },
          ...(typeof callId === "string" && { callId }),
        },
      ];
    }
    case "result":
      return [endOf(told)];
  }
}

function systemEvents({
  subtype,
  session_id: ref,
  compact_metadata: about,
}: Extract<Line, { type: "system" }>): CliEvent[] {
  if (subtype === "init" && ref != null) return [{ type: "started", ref }];
  if (subtype !== "compact_boundary") return [];
  const sizes =
    about?.pre_tokens == null
      ? ""
      : `: ${about.pre_tokens} tokens${about.post_tokens == null ? "" : ` became ${about.post_tokens}`}`;
  const why = about?.trigger == null ? "" : ` (${about.trigger})`;
  return [{ type: "compaction", text: `Claude Code compacted its own session${why}${sizes}.` }];
}

function assistantEvents({
  message,
  is_api_error_message: isError,
}: Extract<Line, { type: "assistant" }>): CliEvent[] {
  // The end says it, too, and there it is no reply.
  if (isError === true) return [];
  const { id, content, usage } = message;
  const events = content.flatMap((block): CliEvent[] => {
    if (block.type === "text" && typeof block.text === "string")
      return [{ type: "text", id: `${id} ${block.text}`, text: block.text }];
    if (block.type !== "tool_use" || typeof block.id !== "string") return [];
    const name = typeof block.name === "string" ? block.name : "unnamed";
    return [{ type: "call", id: block.id, name, args: recordOf(block.input) }];
  });
  return usage == null
    ? events
    : [...events, { type: "call-usage", id, usage: usageOfClaude(usage) }];
}

function resultIn(block: z.infer<typeof BlocksSchema>[number]): CliEvent[] {
  if (block.type !== "tool_result" || typeof block.tool_use_id !== "string") return [];
  const { content } = block;
  const parts = Array.isArray(content) ? content : [content ?? ""];
  const text = parts
    .map((part: unknown) => {
      if (typeof part === "string") return part;
      const own = recordOf(part);
      return typeof own.text === "string" ? own.text : `[${String(own.type ?? "something")}]`;
    })
    .join("\n");
  return [{ type: "result", id: block.tool_use_id, text, isError: block.is_error === true }];
}

function deltaIn(type: string, { text, thinking }: Record<string, unknown>): CliEvent[] {
  if (type !== "content_block_delta") return [];
  if (typeof text === "string") return [{ type: "delta", kind: "text", delta: text }];
  if (typeof thinking === "string") return [{ type: "delta", kind: "thinking", delta: thinking }];
  return [];
}

/** `subtype` says "success" of a turn whose request was refused. */
function endOf(told: Extract<Line, { type: "result" }>): CliEnd {
  const usage = told.usage == null ? null : usageOfClaude(told.usage);
  const error = told.is_error ? errorOfClaude(told) : null;
  return { type: "end", error, usage, ...(error === null && { reply: told.result ?? undefined }) };
}

const TOO_LONG: ReadonlySet<string> = new Set(["prompt_too_long", "blocking_limit"]);

function errorOfClaude(told: Extract<Line, { type: "result" }>): ModelError {
  const { terminal_reason: reason, api_error_status: status, subtype } = told;
  const said = told.errors?.join(" ") || told.result || reason || subtype;
  const message = `Claude Code: ${said ?? "the turn failed"}`;
  const about = { message, ...(status != null && { status }) };
  if (reason != null && TOO_LONG.has(reason)) return { ...about, kind: "overflow" };
  return { ...about, kind: kindOfStatus(status ?? undefined) } as ModelError;
}

const usageOfClaude = (told: z.infer<typeof UsageSchema>): Usage => {
  const { input_tokens: input, output_tokens: output } = told;
  const { cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite } = told;
  const totalTokens = input + output + cacheRead + cacheWrite;
  return { input, output, cacheRead, cacheWrite, totalTokens };
};
