// The shapes of what the HTTP API answers, besides those that the inspector and events have.
import { z } from "zod";
import { RunningTurnSchema } from "../events/shapes.ts";
import { MissingTurnSchema } from "../inspect/shapes/calls.ts";
import { FateCountsSchema } from "../inspect/shapes/entries.ts";
import { WaitingViewSchema } from "../waiting/waiting-message.ts";

const Text = z.string();
const NullableText = z.string().nullable();
const Count = z.int().nonnegative();
/** ISO 8601. */
const Time = z.string();

const SafeModeSchema = z.array(z.looseObject({ plugin: Text, reason: Text }));
const MessageSchema = z.looseObject({ role: Text });
const TranscriptEntrySchema = z.looseObject({ type: Text, id: Text, parentId: NullableText });

const ErrorSchema = z.object({ error: z.object({ code: Text, message: Text }) });

/** All behind `home` is told to those only who show a token, where there is one. */
const HealthSchema = z.looseObject({
  status: z.enum(["ok", "stopping"]),
  version: Text,
  home: Text,
  pid: z.int().optional(),
  startedAt: Time.optional(),
  uptimeMs: z.number().optional(),
  model: Text.optional(),
  engine: z
    .looseObject({
      configured: NullableText,
      known: z.array(Text),
      quarantined: z.array(z.looseObject({ engineId: Text })),
    })
    .optional(),
  safeMode: SafeModeSchema.optional(),
  turns: z.object({ running: Count, waiting: Count }).optional(),
  notReady: z.array(Text).optional(),
  unstored: z.array(z.object({ session: Text, why: Text })).optional(),
});

const SessionSchema = z.looseObject({
  key: Text,
  agentId: Text,
  sessionId: Text,
  bytes: Count,
  updatedAt: Text,
  busy: z.boolean(),
  depth: Count,
  child: z.looseObject({ parent: Text, state: Text }).nullable(),
  client: Text.optional(),
  title: Text.optional(),
  firstWords: Text.optional(),
  sideRequest: z.object({ of: NullableText }).optional(),
});

const SessionPageSchema = z.looseObject({
  key: Text,
  sessionId: Text,
  busy: z.boolean(),
  createdAt: Time,
  totalEntries: Count.nullable(),
  entries: z.array(TranscriptEntrySchema),
});

const ApprovalSchema = z.looseObject({
  id: Text,
  asker: z.looseObject({ kind: Text, id: Text }),
  sessionKey: Text,
  name: Text,
  arguments: z.record(Text, z.unknown()),
  grants: Text,
  askedAt: Time,
  expiresAt: Time,
});

const ContextItemSchema = z.looseObject({
  source: z.looseObject({ kind: Text }),
  reason: Text,
  tokens: Count,
  hash: Text,
  preview: Text,
  chars: Count,
});

const ContextSchema = z.looseObject({
  turnId: Text,
  startedAt: Time,
  outcome: z.enum(["completed", "failed", "aborted"]),
  model: z.looseObject({ requested: Text, resolved: Text, api: Text }),
  engine: z.looseObject({ configured: NullableText, ran: Text }),
  budget: z.looseObject({ contextWindow: Count, promptBudget: Count }).nullable(),
  call: z.looseObject({ requestHash: Text, stopReason: NullableText, error: NullableText }),
  size: z.looseObject({ tokens: z.number(), source: z.enum(["counted", "estimated"]) }),
  tokens: z.object({
    ...{ system: Count, tools: Count, messages: Count },
    /** What a program that made the request added of its own, which is not listed. */
    program: Count,
    total: Count,
  }),
  system: z.array(ContextItemSchema),
  tools: z.array(ContextItemSchema),
  messages: z.array(ContextItemSchema),
  fates: FateCountsSchema,
  /** Turns since this call that have no report. */
  missingTurns: z.array(MissingTurnSchema),
});

const TurnNowSchema = z.looseObject({
  turn: Count,
  report: z.looseObject({ turnId: Text }),
  parts: z.record(Text, Text),
  isAnswering: z.boolean(),
});

const StatusSchema = z.looseObject({
  key: Text,
  model: z.looseObject({ provider: Text, id: Text, contextWindow: Count }),
  engine: z.looseObject({ engineId: Text, configured: NullableText }),
  context: z.looseObject({ tokens: z.number(), messages: z.number() }),
  cost: z.looseObject({ spent: z.looseObject({ modelCalls: Count, dollars: z.number() }) }),
});

const EngineSchema = z.looseObject({
  configured: NullableText,
  engineId: Text,
  name: Text,
  degraded: z.looseObject({ operation: Text, reason: Text }).nullable(),
  text: Text,
});

/** Since the start; null = never. */
const StraySchema = z
  .object({ count: Count, last: z.object({ at: Time, message: Text }) })
  .nullable();

const PluginSchema = z.looseObject({
  id: Text,
  status: z.enum(["loaded", "off", "error"]),
  reason: NullableText,
  strays: StraySchema,
  failedHooks: StraySchema,
  refused: StraySchema,
  changed: StraySchema,
  busy: StraySchema,
});

const McpServerSchema = z.object({
  name: Text,
  state: z.enum(["idle", "connecting", "ready", "away", "off"]),
  reach: Text,
  problem: z
    .object({
      kind: z.enum(["unusable", "refused", "mute", "ended", "too-large", "flood"]),
      text: Text,
    })
    .nullable(),
  about: z.object({ name: Text, version: Text, revision: Text }).nullable(),
  tools: z.array(z.object({ name: Text, tool: Text, runsUnasked: z.boolean(), description: Text })),
  odd: Count,
  left: z.array(Text),
});

/** Named in the description of the API. */
export const ANSWERS = {
  Alive: z.object({ status: z.literal("ok") }),
  Stopping: z.object({ stopping: z.literal(true) }),
  Ready: z.object({ status: z.enum(["ready", "not-ready"]), reasons: z.array(Text).optional() }),
  Error: ErrorSchema,
  Health: HealthSchema,
  Message: MessageSchema,
  Sessions: z.object({
    sessions: z.array(SessionSchema),
    next: NullableText,
    sideRequests: Count,
  }),
  SessionPage: SessionPageSchema,
  Messages: z.object({ messages: z.array(MessageSchema) }),
  Aborted: z.object({ aborted: z.boolean(), waiting: Count }),
  Waiting: z.object({ waiting: z.array(WaitingViewSchema) }),
  Removed: z.object({ removed: Text }),
  TakenBack: z.object({ takenBack: Count }),
  AcpTaken: z.object({ taken: z.literal(true) }),
  Approvals: z.object({ approvals: z.array(ApprovalSchema), mayAnswer: z.boolean() }),
  Answered: z.looseObject({ approval: ApprovalSchema, end: z.looseObject({}), text: Text }),
  Link: z.object({ link: Text }),
  McpServers: z.object({ servers: z.array(McpServerSchema) }),
  McpServer: z.object({ server: McpServerSchema }),
  Context: ContextSchema,
  Status: StatusSchema,
  Engine: EngineSchema,
  EngineRetry: z.looseObject({ text: Text, data: z.unknown() }),
  Plugins: z.object({ plugins: z.array(PluginSchema) }),
  ActionResult: z.object({ result: z.unknown() }),
  MethodResult: z.looseObject({ ok: z.boolean() }),
  RunningTurn: RunningTurnSchema,
  TurnNow: z.object({ underWay: TurnNowSchema.nullable() }),
} as const;
