// The provider-neutral messages that engines see, and the schema that checks them.
import { z } from "zod";

/** Text, of anybody. */
export interface TextBlock {
  /** Tells the kinds of block apart; kinds unknown to a reader are kept as they are. */
  type: "text";
  /**
   * May be empty; providers refuse blank text, so the transcript policy removes it before a call.
   */
  text: string;
  /** Provider's signature of a replayable text item (OpenAI Responses). Absent: not signed. */
  textSignature?: string;
}

/**
 * Where thinking stands on a wire: "signed" a block with its signature (Messages, Converse) ·
 * "item" a reasoning item (Responses) · "thought" a part with a flag (Gemini) · "chunk" a thinking
 * chunk (Mistral) · the other three are fields of a Chat Completions message.
 */
export type ThinkingCarrier =
  | "signed"
  | "item"
  | "thought"
  | "chunk"
  | "reasoning_content"
  | "reasoning"
  | "reasoning_details";

/** What a model thought aloud before it answered. */
export interface ThinkingBlock {
  /** Tells it from an answer: people are not shown it as one. */
  type: "thinking";
  /** The thought in plain text; some providers give a summary of it, or nothing. */
  thinking: string;
  /**
   * Provider's proof that it wrote this block; bound to the history before it. Absent: not signed,
   * some providers then refuse to take the block back.
   */
  thinkingSignature?: string;
  /** How it arrived, so that it goes back the same way. Absent: not told; the usual one. */
  carrier?: ThinkingCarrier;
  /**
   * What arrived, as JSON, where text and signature are not all of it (`reasoning_details`); sent
   * back as it is. Absent: they are.
   */
  carried?: unknown;
}

/** Thinking that the provider keeps to itself and wants back as it is. */
export interface RedactedThinkingBlock {
  /** Tells it from thinking that can be read. */
  type: "redacted_thinking";
  /** The provider's own bytes, as text. Absent: lost; the block cannot be sent back. */
  data?: string;
}

/** A model asks for a tool to be run; the result with the same id answers it. */
export interface ToolCallBlock {
  /** The only kind of block that wants an answer. */
  type: "toolCall";
  /** Pairs the call with its result; unique within a reply, not always within a session. */
  id: string;
  /** Name of the tool. */
  name: string;
  /** What the tool is given, as the tool's own schema describes it; unchecked. */
  arguments: Record<string, unknown>;
  /** Google's signature of the step that made the call, base64. Absent: not signed. */
  thoughtSignature?: string;
}

/**
 * What only one provider understands: a call of a tool it ran itself, its own compaction, and
 * whatever it invents next. Goes back as it came to the route it came from, and nowhere else.
 */
export interface ProviderBlock {
  /** Tells it from what every model understands; a reader without use for it keeps it. */
  type: "provider";
  /** Wire protocol it arrived by. */
  api: string;
  /** Who wrote it. */
  provider: string;
  /** The model's id, without its provider. */
  model: string;
  /** The provider's own name for it, e.g. "server_tool_use" or "compaction". */
  kind: string;
  /** As it stood on the wire, as JSON; never changed. */
  data: unknown;
}

/** A picture, shown by a person or returned by a tool. */
export interface ImageBlock {
  /** Tells it from text; models that take no images are shown a text in its place. */
  type: "image";
  /** Base64, standard alphabet. */
  data: string;
  /** For example "image/png". */
  mimeType: string;
}

/** What a person may say. */
export type UserBlock = TextBlock | ImageBlock;

/** What a model may answer. */
export type AssistantBlock =
  | TextBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | ToolCallBlock
  | ProviderBlock;

/** What a tool may return. */
export type ToolResultBlock = TextBlock | ImageBlock;

/**
 * Why a reply ended: "stop" it was finished · "length" the output limit was reached · "toolUse" it
 * waits for tools · "error" the call failed · "aborted" somebody ended it.
 */
export type StopReason = "stop" | "length" | "toolUse" | "error" | "aborted";

/** Token counts of one model call, as the provider billed them; `cost` in US dollars. */
export interface Usage {
  /** Tokens of the prompt that were neither read from nor written to a cache. */
  input: number;
  /** Tokens of the reply, thinking included. */
  output: number;
  /** Tokens of the prompt that came out of the provider's cache. */
  cacheRead: number;
  /** Tokens of the prompt that were put into it. */
  cacheWrite: number;
  /** All of them together. */
  totalTokens: number;
  /** US dollars, by kind of token. Absent: the price is not known. */
  cost?: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
}

/** What the host knows about where a message came from; never shown to the model as text. */
export interface HostEnvelope {
  /**
   * The id of the entry that first stored the message, its origin. It stays the same when the
   * message is shortened, rewritten, compacted around, copied to another transcript or handed out
   * as a copy; `messageId` reads it. Absent: the message was not stored yet, or nobody told.
   */
  id?: string;
  /**
   * Ids of the messages that a transcript policy joined to it, in order. Absent: it is one message.
   */
  merged?: string[];
  /** What caused the turn this user message begins. Absent: a person, or not told. */
  kind?: "heartbeat" | "cron";
  /** Who said it, by the channel's id. Absent: not told. */
  senderId?: string;
  /** Who said it, as people know them. Absent: not told. */
  senderName?: string;
  /** Who said it, by account. Absent: not told. */
  senderUsername?: string;
  /** The run that stored the message. Absent: not told. */
  runId?: string;
  /** Hosts add keys; keep them. */
  [key: string]: unknown;
}

/** Where a user message really came from; other kinds than these three mean nothing. */
export interface MessageProvenance {
  /** "inter_session": another session said it; a model is told so by a marker in the text. */
  kind: "external_user" | "internal_system" | "inter_session";
  /** The session that sent it. Absent: not told. */
  sourceSessionKey?: string;
  /** The channel it came through. Absent: not told. */
  sourceChannel?: string;
  /** The tool that sent it. Absent: not told. */
  sourceTool?: string;
}

interface Stamped {
  /** When the message was made, ms since the epoch. Absent: not known. */
  timestamp?: number;
  /**
   * Same key = same event, however often it is delivered. Absent: not told; messages are recognised
   * by `messageId`.
   */
  idempotencyKey?: string;
  /** What the host wrote on it. Absent: nothing. */
  __openclaw?: HostEnvelope;
}

/** What a person said; also what a host or another session says in a person's place. */
export interface UserMessage extends Stamped {
  /** Begins a turn. */
  role: "user";
  /** A string is one text block. */
  content: string | UserBlock[];
  /** Where it came from. Absent: not told, so it is taken for a person's. */
  provenance?: MessageProvenance;
}

/** One reply of a model; a turn with tools has several. */
export interface AssistantMessage extends Stamped {
  /** The model's side of the conversation. */
  role: "assistant";
  /** In the order the model wrote it; empty when a call failed before anything arrived. */
  content: AssistantBlock[];
  /** "error" and "aborted" mark a reply that broke off; it stays in the transcript. */
  stopReason: StopReason;
  /** For people: why the call failed. Absent: it did not. */
  errorMessage?: string;
  /** Wire protocol of the call. Absent: not known. */
  api?: string;
  /** Who answered. Absent: not known. */
  provider?: string;
  /** The model's id, without its provider. Absent: not known. */
  model?: string;
  /**
   * Fingerprint of the account that was asked, a hash and never the key: some signatures can be
   * read under the same account only. Absent: not known.
   */
  account?: string;
  /** The provider's own id of this reply, for its support and logs. Absent: it gave none. */
  responseId?: string;
  /** What the call was billed for. Absent: the provider did not say. */
  usage?: Usage;
}

/** What a tool returned; answers the call with the same id. */
export interface ToolResultMessage extends Stamped {
  /** Stands behind the reply whose call it answers, or providers refuse the history. */
  role: "toolResult";
  /** `id` of the call. */
  toolCallId: string;
  /** `name` of the call. */
  toolName: string;
  /** What the model is shown; a placeholder once it was cleared. */
  content: ToolResultBlock[];
  /** True: the tool failed, and `content` says how. */
  isError: boolean;
  /** Outcome for people and plugins, never sent to a model. Absent: `content` is all there is. */
  details?: unknown;
  /** When a prune replaced the content by a placeholder, ms since the epoch. Absent: never. */
  prunedAt?: number;
  /** True: no prune may clear this result. Absent: false. */
  pruneProtect?: boolean;
}

/** Text a host or plugin put into the context that is neither a person's nor the model's. */
export interface CustomMessage extends Stamped {
  /** Shown to a model as a user's text. */
  role: "custom";
  /** Whose message it is, for the plugin or host that wrote it. */
  customType: string;
  /** A string is one text block. */
  content: string | UserBlock[];
  /** False: people are not shown it. Absent: they are. */
  display?: boolean;
  /** Data of its author, never sent to a model. Absent: none. */
  details?: unknown;
}

/** A shell command the person ran beside the conversation. */
export interface BashExecutionMessage extends Stamped {
  /** Shown to a model as a user's text, with command, output and how it ended. */
  role: "bashExecution";
  /** As the person typed it. */
  command: string;
  /** What it printed, perhaps cut. */
  output: string;
  /** 0 = success. Absent: not known. */
  exitCode?: number;
  /** True: the person ended it. Absent: false. */
  cancelled?: boolean;
  /** True: `output` is not all of it. Absent: false. */
  truncated?: boolean;
  /** Absolute path of the whole output. Absent: `output` is whole, or the rest was not kept. */
  fullOutputPath?: string;
  /** True: people see it, models do not. Absent: false. */
  excludeFromContext?: boolean;
}

/** Stands where compacted history stood. */
export interface CompactionSummaryMessage extends Stamped {
  /** Shown to a model as a user's text that says what it is. */
  role: "compactionSummary";
  /** Stands for everything before it. */
  summary: string;
  /** Tokens of the context before the compaction. Absent: not counted. */
  tokensBefore?: number;
}

/** Stands for a branch of the transcript that was left. */
export interface BranchSummaryMessage extends Stamped {
  /** Shown to a model as a user's text that says what it is. */
  role: "branchSummary";
  /** What was said on that branch. */
  summary: string;
  /** Id of an entry of that branch. Absent: not known. */
  fromId?: string;
}

/** Everything a context may hold, told apart by `role`. */
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
