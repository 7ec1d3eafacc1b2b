// What is read of the messages of a Codex app-server.
import { z } from "zod";

/** The oldest version whose messages are these. */
export const OLDEST_CODEX = "0.145.0";

const id = z.union([z.string(), z.number()]);

/** One line: an answer, a question, or news. */
export const MessageSchema = z.looseObject({
  id: id.optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number().optional(), message: z.string() }).optional(),
});

export const InitializedSchema = z.looseObject({ userAgent: z.string() });
export const ThreadSchema = z.looseObject({ thread: z.looseObject({ id: z.string() }) });
export const TurnStartedSchema = z.looseObject({ turn: z.looseObject({ id: z.string() }) });
export const AnythingSchema = z.unknown();

const count = z.number().nonnegative().catch(0);
const TokensSchema = z.looseObject({
  totalTokens: count,
  inputTokens: count,
  cachedInputTokens: count,
  cacheWriteInputTokens: count.default(0),
  outputTokens: count,
});
export type CodexTokens = z.infer<typeof TokensSchema>;

/** Why a model call failed: a word, or an object with one key. */
const ErrorInfoSchema = z
  .union([z.string(), z.record(z.string(), z.unknown())])
  .nullish()
  .catch(null);
export type CodexErrorInfo = z.infer<typeof ErrorInfoSchema>;

const TurnErrorSchema = z.looseObject({
  message: z.string(),
  codexErrorInfo: ErrorInfoSchema,
  additionalDetails: z.string().nullish(),
});
export type CodexTurnError = z.infer<typeof TurnErrorSchema>;

/** Of which thread any news or question is; some are of none. */
export const OfThreadSchema = z.looseObject({ threadId: z.string() });

/** What it asks its models, as far as it is looked at. */
export const AskingSchema = z.looseObject({ prompt_cache_key: z.string() });

const text = z.string().nullish();

/** An item as it is told; types that are not among these are none of ours. */
export const ItemSchema = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("agentMessage"), id: z.string(), text: z.string() }),
  z.looseObject({
    type: z.literal("commandExecution"),
    id: z.string(),
    command: z.string(),
    cwd: text,
    status: text,
    aggregatedOutput: text,
    exitCode: z.number().nullish(),
    durationMs: z.number().nullish(),
  }),
  z.looseObject({
    type: z.literal("fileChange"),
    id: z.string(),
    changes: z.array(z.looseObject({ path: z.string(), diff: text })).catch([]),
    status: text,
  }),
  z.looseObject({
    type: z.literal("mcpToolCall"),
    id: z.string(),
    server: z.string(),
    tool: z.string(),
    arguments: z.unknown(),
    status: text,
    result: z.looseObject({ content: z.array(z.unknown()).catch([]) }).nullish(),
    error: z.looseObject({ message: z.string() }).nullish(),
    durationMs: z.number().nullish(),
  }),
  z.looseObject({ type: z.literal("webSearch"), id: z.string(), query: text }),
  z.looseObject({ type: z.literal("contextCompaction"), id: z.string() }),
]);
export type CodexItem = z.infer<typeof ItemSchema>;

export const NewsSchemas = {
  "item/agentMessage/delta": z.looseObject({ delta: z.string() }),
  "item/reasoning/summaryTextDelta": z.looseObject({ delta: z.string() }),
  "item/reasoning/textDelta": z.looseObject({ delta: z.string() }),
  "item/started": z.looseObject({ item: z.looseObject({ type: z.string() }) }),
  "item/completed": z.looseObject({
    item: z.looseObject({ type: z.string() }),
    turnId: z.string().optional().catch(undefined),
  }),
  "thread/tokenUsage/updated": z.looseObject({
    tokenUsage: z.looseObject({
      last: TokensSchema,
      total: TokensSchema,
      modelContextWindow: z.number().nullish(),
    }),
  }),
  error: z.looseObject({ error: TurnErrorSchema, willRetry: z.boolean().catch(false) }),
  "turn/completed": z.looseObject({
    turn: z.looseObject({
      id: z.string(),
      status: z.string(),
      error: TurnErrorSchema.nullish(),
    }),
  }),
} as const;

export const ToolCallSchema = z.looseObject({
  callId: z.string(),
  tool: z.string(),
  arguments: z.unknown(),
});
export const ApprovalSchema = z.looseObject({
  itemId: text,
  command: text,
  cwd: text,
  reason: text,
});
/** Commands that run on behind a thread's turns. */
export const TerminalsSchema = z.looseObject({
  data: z.array(z.looseObject({ itemId: text })),
});
export const QuestionsSchema = z.looseObject({
  questions: z.array(z.looseObject({ id: z.string() })).catch([]),
});
export const ElicitationSchema = z.looseObject({
  serverName: z.string().catch("?"),
  message: text,
  _meta: z.record(z.string(), z.unknown()).nullish().catch(null),
});
