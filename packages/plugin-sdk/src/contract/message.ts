// The provider-neutral messages that engines see, and the schema that checks them.
import { z } from "zod";

export interface TextBlock {
  type: "text";
  text: string;
  /** Provider's signature of a replayable text item (OpenAI Responses). */
  textSignature?: string;
}

export interface ThinkingBlock {
  type: "thinking";
  thinking: string;
  /** Provider's proof that it wrote this block; bound to the history before it. */
  thinkingSignature?: string;
}

export interface RedactedThinkingBlock {
  type: "redacted_thinking";
  data?: string;
}

export interface ToolCallBlock {
  type: "toolCall";
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  /** Google's signature of the step that made the call, base64. */
  thoughtSignature?: string;
}

export interface ImageBlock {
  type: "image";
  /** Base64, standard alphabet. */
  data: string;
  mimeType: string;
}

export type UserBlock = TextBlock | ImageBlock;
export type AssistantBlock = TextBlock | ThinkingBlock | RedactedThinkingBlock | ToolCallBlock;
export type ToolResultBlock = TextBlock | ImageBlock;

export type StopReason = "stop" | "length" | "toolUse" | "error" | "aborted";

/** Token counts of one model call, as the provider billed them; `cost` in US dollars. */
export interface Usage {
  /** Tokens of the prompt that were neither read from nor written to a cache. */
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  totalTokens: number;
  cost?: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
}

/** What the host knows about where a message came from; never shown to the model as text. */
export interface HostEnvelope {
  senderId?: string;
  senderName?: string;
  senderUsername?: string;
  runId?: string;
  [key: string]: unknown;
}

export interface MessageProvenance {
  kind: "external_user" | "internal_system" | "inter_session";
  sourceSessionKey?: string;
  sourceChannel?: string;
  sourceTool?: string;
}

interface Stamped {
  /** When the message was made, in ms since the epoch. */
  timestamp?: number;
  /** Same key = same event, however often it is delivered. */
  idempotencyKey?: string;
  __openclaw?: HostEnvelope;
}

export interface UserMessage extends Stamped {
  role: "user";
  content: string | UserBlock[];
  provenance?: MessageProvenance;
}

export interface AssistantMessage extends Stamped {
  role: "assistant";
  content: AssistantBlock[];
  stopReason: StopReason;
  errorMessage?: string;
  api?: string;
  provider?: string;
  model?: string;
  usage?: Usage;
}

export interface ToolResultMessage extends Stamped {
  role: "toolResult";
  toolCallId: string;
  toolName: string;
  content: ToolResultBlock[];
  isError: boolean;
  /** Machine-readable outcome for people and plugins; never sent to a model. */
  details?: unknown;
  /** When a prune replaced the content by a placeholder, ms since the epoch. */
  prunedAt?: number;
  /** True: no prune may clear this result. */
  pruneProtect?: boolean;
}

/** Text a host or plugin put into the context that is neither a person's nor the model's. */
export interface CustomMessage extends Stamped {
  role: "custom";
  customType: string;
  content: string | UserBlock[];
  display?: boolean;
  details?: unknown;
}

export interface BashExecutionMessage extends Stamped {
  role: "bashExecution";
  command: string;
  output: string;
  exitCode?: number;
  cancelled?: boolean;
  truncated?: boolean;
  fullOutputPath?: string;
  excludeFromContext?: boolean;
}

/** Stands where compacted history stood. */
export interface CompactionSummaryMessage extends Stamped {
  role: "compactionSummary";
  summary: string;
  tokensBefore?: number;
}

/** Stands for a branch of the transcript that was left. */
export interface BranchSummaryMessage extends Stamped {
  role: "branchSummary";
  summary: string;
  fromId?: string;
}

export type AgentMessage =
  | UserMessage
  | AssistantMessage
  | ToolResultMessage
  | CustomMessage
  | BashExecutionMessage
  | CompactionSummaryMessage
  | BranchSummaryMessage;

const stamped = {
  timestamp: z.number().optional(),
  idempotencyKey: z.string().optional(),
  __openclaw: z.record(z.string(), z.unknown()).optional(),
};

// Blocks of kinds we do not know are carried through: a newer host may have written them.
const block = z.looseObject({ type: z.string() });
const blocks = z.array(block);
const textOrBlocks = z.union([z.string(), blocks]);

/**
 * Checks one message at the edge (a file, a plugin, an HTTP body). Loose: unknown keys and block
 * kinds are kept. Shapes: spec "context-engine contract" §1 and "compaction" §2.9.
 */
export const AgentMessageSchema = z.discriminatedUnion("role", [
  z.looseObject({ role: z.literal("user"), content: textOrBlocks, ...stamped }),
  z.looseObject({
    role: z.literal("assistant"),
    content: z.union([blocks, z.string(), z.null(), block]),
    stopReason: z.string().optional(),
    ...stamped,
    timestamp: z.union([z.number(), z.string()]).optional(),
  }),
  z.looseObject({ role: z.literal("toolResult"), content: z.unknown(), ...stamped }),
  z.looseObject({
    role: z.literal("custom"),
    customType: z.string(),
    content: textOrBlocks,
    ...stamped,
  }),
  z.looseObject({
    role: z.literal("bashExecution"),
    command: z.string(),
    output: z.string(),
    ...stamped,
  }),
  z.looseObject({ role: z.literal("compactionSummary"), summary: z.string(), ...stamped }),
  z.looseObject({ role: z.literal("branchSummary"), summary: z.string(), ...stamped }),
]);
