// One turn in progress: what it was asked, what it runs with, and the notes its report is made of.
import type {
  AgentMessage,
  AssistantMessage,
  ContextEngineInfo,
  ModelError,
  ModelRef,
  ToolCallBlock,
  UserMessage,
} from "@clew/plugin-sdk/core";
import type { SessionProjection, SessionPruneSettings } from "@clew/plugin-sdk/transcript";
import { DEFAULT_RESERVE_TOKENS } from "./budget.ts";
import type { GuardedEngine } from "./guard.ts";
import type { LlmPolicy } from "./llm.ts";
import type { HostPorts, HostSession, TranscriptPort } from "./ports.ts";
import type { AdmittedMessage } from "./prompt.ts";
import { NO_RECOVERY_YET, type RecoveryState } from "./recovery.ts";
import type { ReportParts, TurnReport } from "./report.ts";
import type { SystemPart } from "./request-items.ts";
import type { ResolvedEngine } from "./resolve.ts";
import type { SessionState } from "./session-state.ts";

export interface TurnSettings {
  /** Tokens held back for the reply; never more than a quarter of the window. */
  reserveTokens: number;
  /** Measured / estimated tokens of this model, as the host has learned it: corrects what no provider has counted yet. */
  tokenRatio: number;
  /** Newest user turns kept before assembly; undefined = all. */
  historyLimit: number | undefined;
  /** Model calls in one turn, so that a looping model ends. */
  maxModelCalls: number;
  citationsMode: "auto" | "on" | "off" | undefined;
  /** False: no compaction by threshold; overflow recovery and /compact remain. */
  autoCompaction: boolean;
  /** Also check between model calls of a turn whether the next request fits. */
  midTurnPrecheck: boolean;
  /** `agents.defaults.contextPruning`; by default on for models with a known cache time. */
  sessionPrune: Partial<SessionPruneSettings> | undefined;
  /** How long a turn waits for the session's background maintenance before it goes on, ms. */
  maintenanceWaitMs: number;
}

export const DEFAULT_TURN_SETTINGS: TurnSettings = {
  reserveTokens: DEFAULT_RESERVE_TOKENS,
  tokenRatio: 1,
  historyLimit: undefined,
  maxModelCalls: 200,
  citationsMode: undefined,
  autoCompaction: true,
  midTurnPrecheck: false,
  sessionPrune: undefined,
  maintenanceWaitMs: 10_000,
};

/** What hooks add to a prompt; it goes to the model only, the transcript keeps what the person sent. */
export interface PromptAdditions {
  systemPrompt?: string;
  prependContext?: string;
  appendContext?: string;
  prependSystemContext?: string;
  appendSystemContext?: string;
  toolsAllow?: string[];
}

export interface TurnRequest {
  engine: ResolvedEngine;
  ports: HostPorts;
  state: SessionState;
  model: ModelRef;
  /** "provider/id" as the person asked for it; default: the model's own. */
  requestedModel?: string;
  systemPrompt: readonly SystemPart[];
  prompt: Omit<UserMessage, "role">;
  /** Default "user"; a heartbeat is passed to engines as `isHeartbeat`. */
  kind?: "user" | "heartbeat" | "cron";
  settings?: Partial<TurnSettings>;
  /** Called after assembly and before the first model call. */
  beforePromptBuild?: (context: {
    prompt: string;
    messages: readonly AgentMessage[];
  }) => Promise<PromptAdditions>;
  /** Facts for engines' `runtimeContext`, merged under what the host itself knows. */
  runtimeFacts?: Record<string, unknown>;
  /** What the operator lets the engine's own model calls do. */
  llmPolicy?: LlmPolicy;
  signal?: AbortSignal;
  onEvent?: (event: TurnEvent) => void;
}

/** What a person watching the turn is told, in order. */
export type TurnEvent =
  | { type: "accepted"; entryId: string }
  | { type: "text"; delta: string }
  | { type: "thinking"; delta: string }
  | { type: "tool_start"; call: ToolCallBlock }
  | { type: "tool_end"; callId: string; name: string; isError: boolean }
  | { type: "message"; entryId: string; message: AgentMessage }
  | { type: "notice"; text: string };

export interface TurnResult {
  outcome: TurnReport["outcome"];
  /** The accepted reply; null when the turn failed or was aborted. */
  reply: AssistantMessage | null;
  error: TurnError | null;
  report: TurnReport;
  /** Contents the report names by hash. */
  parts: ReportParts;
}

/** Why a turn has no reply, as data and as one sentence. */
export interface TurnError {
  kind: ModelError["kind"] | "engine" | "host";
  message: string;
}

export interface TurnRun {
  readonly request: TurnRequest;
  readonly ports: HostPorts;
  /** The session's transcript; a compaction may move the session to a successor. */
  transcript: TranscriptPort;
  readonly session: HostSession;
  readonly state: SessionState;
  readonly engine: GuardedEngine;
  readonly model: ModelRef;
  readonly settings: TurnSettings;
  readonly isHeartbeat: boolean;
  readonly signal: AbortSignal;
  readonly emit: (event: TurnEvent) => void;
  /** True when the transcript existed before this turn. */
  readonly hadSessionFile: boolean;
  readonly startedAt: number;
  readonly startedMonotonic: number;
  /** The report so far. */
  readonly report: TurnReport;
  readonly parts: ReportParts;
  /** ms spent in model calls and tools. */
  waitedMs: number;
  /** Entry ids of this turn's messages that the engine was given. */
  delivered: Set<string>;
  /** The prompt once it is stored. */
  admitted: AdmittedMessage | undefined;
  recovery: RecoveryState;
  /** Which tool results the view shows shortened. */
  projections: readonly SessionProjection[];
  /** Why the last compaction did not help. */
  compactionFailure: { reason: string; timedOut: boolean } | undefined;
  /** Hash of the request the provider refused as too large: it is not sent again as it is. */
  refusedRequest: string | undefined;
}

export function openTurn(request: TurnRequest): TurnRun {
  const { ports, state, model } = request;
  const signal = request.signal ?? new AbortController().signal;
  const report = newReport(request);
  const { compaction } = ports;
  const engine = request.engine.guard.enter({
    signal,
    ...(compaction !== undefined && {
      compaction: (params, options) => compaction.compact(params, options),
    }),
    record: (call) => void report.engineCalls.push(call),
  });
  return {
    request,
    ports,
    transcript: ports.transcript,
    get session() {
      return this.transcript.session;
    },
    state,
    engine,
    model,
    settings: { ...DEFAULT_TURN_SETTINGS, ...request.settings },
    isHeartbeat: request.kind === "heartbeat",
    signal,
    emit: request.onEvent ?? (() => {}),
    hadSessionFile: ports.transcript.exists(),
    startedAt: ports.clock.now(),
    startedMonotonic: ports.clock.monotonic(),
    report,
    parts: {},
    waitedMs: 0,
    delivered: new Set(),
    admitted: undefined,
    recovery: NO_RECOVERY_YET,
    projections: [],
    compactionFailure: undefined,
    refusedRequest: undefined,
  };
}

/** Durable when the engine declares both semantics and the host keeps an outbox; nothing is degraded for not declaring. */
export function lifecycleOf(
  info: ContextEngineInfo,
  ports: { transcript: Pick<TranscriptPort, "outbox"> },
): TurnReport["lifecycle"] {
  const { currentTurnFence, turnAdvancementIdempotency } = info.transcriptSemantics ?? {};
  const declared =
    currentTurnFence === "before-current-turn-entry-v1" &&
    turnAdvancementIdempotency === "atomic-idempotent-v1";
  return declared && ports.transcript.outbox !== undefined ? "durable" : "eager";
}

function newReport({ engine, ports, model, requestedModel }: TurnRequest): TurnReport {
  const info = engine.guard.info();
  const resolved = `${model.provider}/${model.id}`;
  const { sessionId, sessionKey } = ports.transcript.session;
  return {
    v: 1,
    turnId: ports.ids.next(),
    sessionId,
    sessionKey,
    startedAt: new Date(ports.clock.now()).toISOString(),
    durationMs: 0,
    hostMs: 0,
    outcome: "completed",
    reason: null,
    model: { requested: requestedModel ?? resolved, resolved, api: model.api },
    engine: {
      configured: engine.configured,
      ran: engine.guard.engineId,
      infoId: info.id,
      name: info.name,
      source: engine.source,
      ownsCompaction: info.ownsCompaction === true,
      degraded: engine.degraded,
      projection: null,
    },
    lifecycle: lifecycleOf(engine.guard.info(), ports),
    engineCalls: [],
    budget: null,
    promptEntryId: null,
    replyEntryId: null,
    historyChanges: [],
    modelCalls: [],
    toolCalls: [],
    compactions: [],
  };
}
