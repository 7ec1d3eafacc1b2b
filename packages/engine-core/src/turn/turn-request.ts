// What a host passes in to run one turn, and what it gets back.
import type {
  AgentMessage,
  AssistantMessage,
  ErrorCode,
  ToolCallBlock,
  UserMessage,
} from "@clew/plugin-sdk/core";
import type { CallAsk, ModelError, ModelRef, TokenBudget } from "@clew/plugin-sdk/host";
import { DEFAULT_RESERVE_TOKENS, type WaterSettings } from "@clew/plugin-sdk/host";
import type { SessionPruneSettings } from "@clew/plugin-sdk/transcript";
import type { LlmPolicy } from "../engine/llm.ts";
import type { ResolvedEngine } from "../engine/resolve.ts";
import type { HostPorts } from "../ports.ts";
import type { ModelChoice } from "../recovery/plan-fallback.ts";
import type { ReportItem, ReportParts } from "../report/item.ts";
import type { ModelCallReport } from "../report/model-call.ts";
import type { CompactionReport, FailureKind, TurnReport } from "../report/turn-report.ts";
import type { SystemPart } from "../request/request-items.ts";
import type { WhenBusy } from "../session/session-lock.ts";
import type { SessionState } from "../session/session-state.ts";

/** How turns of this host run. */
export interface TurnSettings {
  /** Tokens held back for the reply, at most a quarter of the window; 0 = none. Default 20,000. */
  reserveTokens: number;
  /**
   * Measured / estimated tokens of this model, as the host has learned it: corrects what no
   * provider has counted yet. Default 1.
   */
  tokenRatio: number;
  /** Newest user turns kept before assembly; undefined (the default) = all. */
  historyLimit: number | undefined;
  /** Model calls in one turn, so that a looping model ends. Default 200. */
  maxModelCalls: number;
  /** How memory shall cite its sources; undefined = engines are not told. No caller yet. */
  citationsMode: "auto" | "on" | "off" | undefined;
  /** False: no compaction by threshold; overflow recovery and /compact remain. Default true. */
  autoCompaction: boolean;
  /** When a context is compacted, and how far; by the budget (the default: {}) or as set. */
  water: WaterSettings;
  /** Also check between model calls of a turn whether the next request fits. Default true. */
  midTurnPrecheck: boolean;
  /** `agents.defaults.contextPruning`; off unless its mode is set. */
  sessionPrune: Partial<SessionPruneSettings> | undefined;
  /**
   * How long a turn waits for the session's background maintenance before it goes on, ms. Default
   * 10,000.
   */
  maintenanceWaitMs: number;
}

export const DEFAULT_TURN_SETTINGS: TurnSettings = {
  reserveTokens: DEFAULT_RESERVE_TOKENS,
  tokenRatio: 1,
  historyLimit: undefined,
  maxModelCalls: 200,
  citationsMode: undefined,
  autoCompaction: true,
  water: {},
  midTurnPrecheck: true,
  sessionPrune: undefined,
  maintenanceWaitMs: 10_000,
};

/**
 * What hooks add to a prompt; it goes to the model only, the transcript keeps what the person sent.
 */
export interface PromptAdditions {
  /** Replaces the host's parts. Absent or blank: they stay. */
  systemPrompt?: string;
  /** Text before the person's. Absent: none. */
  prependContext?: string;
  /** Text after the person's. Absent: none. */
  appendContext?: string;
  /** Text before the system prompt. Absent: none. */
  prependSystemContext?: string;
  /** Text after the system prompt. Absent: none. */
  appendSystemContext?: string;
  /** Names of the only tools offered in this turn. Absent: all are. */
  toolsAllow?: string[];
}

/** One turn: who says what to whom, by which engine. */
export interface TurnRequest {
  /** From `resolveContextEngine`, called for each turn. */
  engine: ResolvedEngine;
  /** What the host lends. */
  ports: HostPorts;
  /** The session's own, the same for every turn while it is open. */
  state: SessionState;
  /** Who answers. */
  model: ModelRef;
  /** "provider/id" as the person asked for it. Absent: the model's own. */
  requestedModel?: string;
  /** What each call asks besides its messages. Absent: the provider's defaults. */
  ask?: CallAsk;
  /**
   * What the settings ask and `ask` leaves out, and why, in words: reports tell it. Absent:
   * nothing.
   */
  leftOut?: readonly string[];
  /**
   * Who answers where `model` cannot, in order; each gets the history by its own policy. Absent:
   * nobody.
   */
  fallbacks?: readonly ModelChoice[];
  /**
   * Why `model` answers in place of the requested one from the start: how that one failed before.
   * Absent: it does not.
   */
  fallback?: ModelError["kind"];
  /**
   * Why no model may answer, as the host knows before the turn: the message is stored, and the turn
   * fails with it. Absent: one may.
   */
  refusal?: { code: ErrorCode; message: string };
  /** In order; the same parts each turn keep caches warm. */
  systemPrompt: readonly SystemPart[];
  /**
   * What the person said; stored before the model is asked, as a message of its own even when it
   * was said before.
   */
  prompt: Omit<UserMessage, "role">;
  /**
   * Entry of the branch that has `prompt`: the turn that it began was cut short, and goes on behind
   * what is stored of it. Every tool call there has its result. A program that ran it cannot: the
   * turn fails. Absent: the prompt is stored.
   */
  goesOnFrom?: string;
  /**
   * What people said since the turn began, each message once: asked for when tools have run, and
   * shown to the model in its next call, as messages of the transcript behind the tools' results.
   * What it gave is stored when an event `message` has it. Absent: what is said waits.
   */
  saidMeanwhile?: () => readonly Omit<UserMessage, "role">[];
  /** A heartbeat is passed to engines as `isHeartbeat`. Absent: "user". */
  kind?: "user" | "heartbeat" | "cron";
  /**
   * What happens while another turn of the session runs: it waits, or SESSION_LOCKED is thrown.
   * Absent: "queue", it waits.
   */
  whenBusy?: WhenBusy;
  /** Absent, in whole or in part: the defaults that `TurnSettings` names. */
  settings?: Partial<TurnSettings>;
  /** Called after assembly and before the first model call. Absent: nothing is added. */
  beforePromptBuild?: (context: {
    prompt: string;
    messages: readonly AgentMessage[];
  }) => Promise<PromptAdditions>;
  /** Facts for engines' `runtimeContext`, merged under what the host itself knows. Absent: none. */
  runtimeFacts?: Record<string, unknown>;
  /** What the operator lets the engine's own model calls do. Absent: the session's model only. */
  llmPolicy?: LlmPolicy;
  /** Ends the turn as "aborted". Absent: nobody can. */
  signal?: AbortSignal;
  /**
   * Told what happens while it happens; what it throws is logged and changes nothing. Absent: wait
   * for the result.
   */
  onEvent?: (event: TurnEvent) => void;
  /**
   * False: nobody reads a reply while it is written, so one that breaks off may be asked for again.
   * Absent: somebody does where there is an `onEvent`.
   */
  isWatched?: boolean;
  /**
   * Handed, when the turn begins, what tells of it while it is under way. Absent: nobody asks.
   */
  onBegin?: (soFar: () => TurnSoFar) => void;
  /** Told of every step that ended, for metrics and logs. Absent: nobody counts. */
  onStep?: (step: TurnStep) => void;
}

/**
 * One step of a turn, told when it has ended; holds no contents. New steps, attributes and fields
 * may come without another `v`.
 */
export interface TurnStep {
  /** Another number means another shape. */
  v: 1;
  /** As in the turn's report. */
  turnId: string;
  /** "call-model", "run-tool", "append", "assemble", "deliver", "compact", … */
  step: string;
  /** For people and traces: "chat <model>", "execute_tool <tool>", "clew append reply". */
  name: string;
  /** When it began, ms since the turn began. */
  atMs: number;
  /** How long it took, ms. */
  durationMs: number;
  /** "failed": what it was asked for did not come about; the report says why. */
  outcome: "ok" | "failed" | "aborted";
  /** Of OpenTelemetry's conventions for generative AI where they have one. */
  attributes: Readonly<Record<string, string | number>>;
}

/**
 * What a person watching the turn is told, in order. New types may come: ignore those you do not
 * know.
 */
export type TurnEvent =
  | { type: "accepted"; entryId: string }
  /** A model is about to be asked: nothing of its answer is there yet. */
  | { type: "call"; call: SentCall }
  | { type: "text"; delta: string }
  | { type: "thinking"; delta: string }
  /** How that ended, with or without a reply. */
  | { type: "call_end"; call: EndedCall }
  | { type: "tool_start"; call: ToolCallBlock }
  | { type: "tool_end"; callId: string; name: string; isError: boolean }
  | { type: "message"; entryId: string; message: AgentMessage }
  | { type: "compaction"; compaction: CompactionReport }
  /** `about`: the program that runs the turn compacted what it holds; absent = anything else. */
  | { type: "notice"; text: string; about?: "compaction" };

/** A request as its model gets it; what its report says afterwards is the same. */
export interface SentCall
  extends Pick<ModelCallReport, "index" | "requestHash" | "size" | "policyChanges" | "engine"> {
  /** As in its report. */
  turnId: string;
  /** "provider/model". */
  model: string;
  /** System prompt parts, in order. */
  system: readonly ReportItem[];
  /** Tool schemas, in order. */
  tools: readonly ReportItem[];
  /** All of them, also those that were sent before. */
  messages: readonly ReportItem[];
  /** How many of these the session's request before began with. */
  kept: number;
  /** How the window is divided. */
  budget: TokenBudget;
}

/** A call that is over, without what was sent. */
export type EndedCall = Omit<
  ModelCallReport,
  "system" | "tools" | "messages" | "policyChanges" | "size"
>;

/** A turn under way; of its report, what ends it is missing. */
export interface TurnSoFar extends Pick<TurnResult, "report" | "parts"> {
  /** The last of its model calls is being answered. */
  isAnswering: boolean;
}

/** How a turn ended; failures are results too. */
export interface TurnResult {
  /** "completed": there is a reply. */
  outcome: TurnReport["outcome"];
  /** The accepted reply; null when the turn failed or was aborted. */
  reply: AssistantMessage | null;
  /** Null: completed. */
  error: TurnError | null;
  /** To be stored: one JSON line per turn. */
  report: TurnReport;
  /** Contents the report names by hash. */
  parts: ReportParts;
}

/** Why a turn has no reply, as data and as one sentence. */
export interface TurnError {
  /** For programs; "engine" and "host" are no failures of the provider. */
  kind: FailureKind;
  /** The error's code in docs/errors.md. Default: it had none. */
  code?: ErrorCode;
  /** One sentence for people. */
  message: string;
}
