// The shapes of what a gateway tells those who follow what happens in it.
import type {
  CompactionReport,
  EndedCall,
  ReportItem,
  SentCall,
  TurnError,
  TurnReport,
} from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { z } from "zod";
import type { Approval } from "../approvals/approval.ts";
import { SourceTokensSchema } from "../inspect/shapes/calls.ts";
import type { TurnCache } from "../models/turn-cache.ts";

/** The members that a client may count on, of a type that has more. */
const some = <Type>(shape: { readonly [Name in keyof Type]?: z.ZodType }): z.ZodType<Type> =>
  z.looseObject(shape as z.ZodRawShape) as unknown as z.ZodType<Type>;

const Tokens = z.int().nonnegative();
/** Of a session, canonical. */
const Key = z.string();

/** One thing that is sent, as its turn's report will name it. */
const ItemSchema = some<ReportItem>({
  source: z.looseObject({ kind: z.string() }),
  role: z.string().optional(),
  reason: z.string(),
  tokens: Tokens,
  hash: z.string(),
});

/** A request that is about to be sent, or was just now. */
export const LiveCallSchema = z.object({
  /** "58.3", by which it will be found once its turn is over. Absent: it is not known yet. */
  id: z.string().optional(),
  turnId: z.string(),
  /** Of the turn's calls, from 1. */
  number: z.int().positive(),
  /** "provider/model". */
  model: z.string(),
  requestHash: z.string(),
  /** Estimated. */
  tokens: SourceTokensSchema,
  /** How large it was found to be, and when the host compacts. Absent: it was not measured. */
  size: some<NonNullable<SentCall["size"]>>({
    tokens: z.number(),
    source: z.string(),
  }).optional(),
  /** How the window is divided. */
  budget: some<SentCall["budget"]>({ contextWindow: Tokens, promptBudget: Tokens }),
  system: z.array(ItemSchema),
  tools: z.array(ItemSchema),
  messages: z.object({
    /** Leading ones that are the same as in the turn's call before; 0 in its first. */
    kept: z.int().nonnegative(),
    /** Those after them; null = too many to be told here. */
    items: z.array(ItemSchema).nullable(),
  }),
});

const ToolCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** Absent: too large to be told here. */
  arguments: z.record(z.string(), z.unknown()).optional(),
});

/** As it is shown to people. */
const MessageSchema = some<AgentMessage>({ role: z.string() });

const PromptSchema = z.object({
  entryId: z.string(),
  /** Absent: it is too large to be told here, or nothing of it is shown to people. */
  message: MessageSchema.optional(),
});

/** A turn under way, for those who come in the middle of it. */
export const RunningTurnSchema = z.object({
  session: Key,
  /** Who began it: a person, a heartbeat, a job, or another session. */
  kind: z.enum(["user", "heartbeat", "cron", "session"]),
  startedAt: z.string(),
  /** Null: it is not stored yet. */
  prompt: PromptSchema.nullable(),
  /** With all its messages (`kept` 0); null = no model was asked yet. */
  call: LiveCallSchema.nullable(),
  /** Of the reply that is being written, so far. */
  text: z.string(),
  thinking: z.string(),
  /** Tools that run now. */
  tools: z.array(ToolCallSchema),
});

const head = { id: z.string(), at: z.string() };
const event = <Type extends string, Shape extends z.core.$ZodLooseShape>(
  type: Type,
  shape: Shape,
) => z.object({ type: z.literal(type), ...head, ...shape });
const ofSession = <Type extends string, Shape extends z.core.$ZodLooseShape>(
  type: Type,
  shape: Shape,
) => event(type, { session: Key, ...shape });

/** An event of `GET /api/events`. New types may come: ignore those you do not know. */
export const GatewayEventSchema = z.discriminatedUnion("type", [
  /** First for whoever begins to follow: what is under way. */
  event("hello", { running: z.array(RunningTurnSchema) }),
  /** Events are missing here: read anew what you show; what is under way is told again. */
  event("reset", { why: z.string(), running: z.array(RunningTurnSchema) }),
  ofSession("started", { kind: RunningTurnSchema.shape.kind }),
  ofSession("accepted", PromptSchema.shape),
  ofSession("call", { call: LiveCallSchema }),
  ofSession("text", { delta: z.string() }),
  ofSession("thinking", { delta: z.string() }),
  ofSession("call_end", {
    call: some<EndedCall>({
      requestHash: z.string(),
      durationMs: z.number(),
      usage: z.looseObject({}).nullable(),
      stopReason: z.string().nullable(),
      error: z.string().nullable(),
    }),
  }),
  ofSession("tool_start", { call: ToolCallSchema }),
  ofSession("tool_end", { callId: z.string(), name: z.string(), isError: z.boolean() }),
  ofSession("message", PromptSchema.shape),
  ofSession("compaction", {
    compaction: some<CompactionReport>({
      trigger: z.string(),
      compacted: z.boolean(),
      tokensBefore: z.number().nullable(),
      tokensAfter: z.number().nullable(),
      reason: z.string().nullable(),
    }),
  }),
  /** `about`: a program compacted what it holds of the session. */
  ofSession("notice", { text: z.string(), about: z.literal("compaction").optional() }),
  /** Of a message that waits, or did until now. */
  ofSession("waiting", {
    change: z.enum(["added", "begun", "steered", "cancelled", "failed"]),
    messageId: z.string(),
    /** Messages that wait in the session now. */
    waiting: z.int().nonnegative(),
  }),
  ofSession("approval", {
    approval: some<Approval>({ id: z.string(), name: z.string(), sessionKey: Key }),
  }),
  ofSession("approval_end", { approvalId: z.string(), text: z.string() }),
  ofSession("done", {
    outcome: z.enum(["completed", "failed", "aborted"]),
    error: some<TurnError>({ kind: z.string(), message: z.string() }).nullable(),
    turnId: z.string().nullable(),
    replyEntryId: z.string().nullable(),
    stopReason: z.string().nullable().optional(),
    model: some<TurnReport["model"]>({ requested: z.string(), resolved: z.string() }).optional(),
    cache: some<TurnCache>({ predicted: z.number() }).optional(),
  }),
  /** A command was answered in the session, which may be another one than before. */
  ofSession("command", { command: z.string(), ok: z.boolean() }),
  ofSession("session", {
    /** "renewed": it has a new transcript, and the old one is listed under another key. */
    change: z.enum(["created", "renewed", "moved", "removed"]),
  }),
  event("engine", {
    /** "set-aside": it failed; "reloaded": plugins, and so engines, were loaded again. */
    change: z.enum(["set-aside", "reloaded"]),
    /** Null: everywhere. */
    session: Key.nullable(),
    engineId: z.string().nullable(),
    /** For people. Absent: nothing failed. */
    reason: z.string().optional(),
  }),
  event("stopping", {}),
]);

export type GatewayEvent = z.infer<typeof GatewayEventSchema>;
export type LiveCall = z.infer<typeof LiveCallSchema>;
export type RunningTurn = z.infer<typeof RunningTurnSchema>;

type WithoutHead<Event> = Event extends unknown ? Omit<Event, "id" | "at"> : never;
/** An event before it has its place among the others. */
export type NewEvent = WithoutHead<Exclude<GatewayEvent, { type: "hello" | "reset" }>>;
