// What a turn was opened with and how far it has come.
import type {
  AssembleResult,
  AssistantMessage,
  ContextEngineInfo,
  ErrorCode,
  ToolCallBlock,
  UserMessage,
} from "@clew/plugin-sdk/core";
import type {
  CallAsk,
  ContextSize,
  EngineMethod,
  ModelError,
  ModelRef,
  TokenBudget,
  ToolDefinition,
} from "@clew/plugin-sdk/host";
import type { SessionProjection } from "@clew/plugin-sdk/transcript";
import type { ExecutionPort } from "../execution-port.ts";
import type { ModelChoice } from "../recovery/plan-fallback.ts";
import type { Remedy, RemedyRecord } from "../recovery/remedy.ts";
import type { EngineFailure } from "../report/engine-call.ts";
import type { RecoveryReport, TurnReport } from "../report/turn-report.ts";
import type { SystemPart } from "../request/request-items.ts";
import type { ViewItem } from "../request/view-item.ts";
import type { ToolOutcome } from "../tool-outcome.ts";
import type { HostSession } from "../transcript-port.ts";
import type { CompactionOutcome, CompactionRequest } from "./compaction.ts";
import type { Delivery } from "./delivery.ts";
import type { PromptAdditions, TurnError, TurnSettings } from "./turn-request.ts";

/** What a turn consists of, in the order of `todo`; each is one file in `tasks/`. */
export type TaskName =
  | "settle"
  | "first-sight"
  | "deliver"
  | "deliver-in-loop"
  | "require-delivery"
  | "bootstrap"
  | "maintain-bootstrap"
  | "admit"
  | "read"
  | "assemble"
  | "hooks"
  | "assemble-again"
  | "compose"
  | "call"
  | "execute"
  | "tools"
  | "listen"
  | "auto-compact"
  | "recover"
  | "compact"
  | "weigh"
  | "refuse"
  | "maintain-turn";

/** What holds for the whole turn. */
export interface TurnSetup {
  readonly turnId: string;
  /** ms since the epoch. */
  readonly startedAt: number;
  /** As the host's monotonic clock gave it, ms. */
  readonly startedMonotonic: number;
  /** A preview asks no model and tells nobody; a compaction has no prompt. */
  readonly purpose: "turn" | "preview" | "compaction";
  readonly kind: "user" | "heartbeat" | "cron";
  readonly session: HostSession;
  /** True when the transcript existed before this turn. */
  readonly hadSession: boolean;
  readonly engine: {
    readonly id: string;
    readonly info: ContextEngineInfo;
    readonly methods: ReadonlySet<EngineMethod>;
    /** Its failures end the turn. */
    readonly strict: boolean;
    /** Why it answers although another one is configured. */
    readonly degraded: EngineFailure | null;
    readonly configured: string | null;
    readonly source: "configured" | "default";
  };
  readonly lifecycle: TurnReport["lifecycle"];
  /** Who is asked now; another one after a fallback. */
  readonly model: ModelRef;
  readonly requestedModel: string;
  /** What calls of it ask besides their messages. */
  readonly ask: CallAsk;
  /** What the settings ask besides and this model is not sent, and why, in words. */
  readonly leftOut: readonly string[];
  /** Who may answer where it cannot, in order. */
  readonly fallbacks: readonly ModelChoice[];
  /** Why it answers in place of the model that was asked for; null = it does not. */
  readonly fallback: ModelError["kind"] | null;
  readonly settings: TurnSettings;
  readonly systemPrompt: readonly SystemPart[];
  readonly prompt: Omit<UserMessage, "role">;
  /** Where it is stored already; null = it is stored by this turn. */
  readonly stored: { readonly id: string; readonly entryId: string } | null;
  readonly tools: readonly ToolDefinition[];
  /** Estimated tokens of system prompt and tool schemas. */
  readonly fixedTokens: number;
  readonly budget: TokenBudget;
  /** Why the turn ends as soon as its message is stored; null = it does not. */
  readonly failure: TurnError | null;
  /** The program that runs the turn; null = none, the host asks the model itself. */
  readonly execution: Pick<ExecutionPort, "id" | "label" | "harnessId" | "capabilities"> | null;
  /** What this host can do besides. */
  readonly host: {
    readonly compacts: boolean;
    readonly hasHooks: boolean;
    /** People may say something while the turn runs. */
    readonly listens: boolean;
  };
}

/** What the engine chose, with what the host adds. */
export interface Assembly {
  readonly items: readonly ViewItem[];
  readonly system: readonly SystemPart[];
  readonly engineEstimate: number | null;
  readonly promptAuthority: NonNullable<AssembleResult["promptAuthority"]>;
  /** As the engine gave it; null = it did not. */
  readonly projection: NonNullable<AssembleResult["contextProjection"]> | null;
}

/** What a run has already tried; attempts and cuts start again after each successful model call. */
export interface RecoveryState {
  readonly overflowAttempts: number;
  readonly timeoutCompactions: number;
  /** Old tool results were cut in bulk since the last successful model call. */
  readonly cut: boolean;
  /** Built-in compaction already ran since the last successful model call. */
  readonly autoCompacted: boolean;
  /** A compaction above the high mark left nearly as much: none is tried again in this turn. */
  readonly highMarkIsVain: boolean;
  /** The engine's own compact changed nothing: it is not asked again in this turn. */
  readonly engineCannot: boolean;
  /** Nor could the host's. */
  readonly hostCannot: boolean;
  /** The request for which a compaction ran last; null = none did since the last reply. */
  readonly compactedFor: readonly ViewItem[] | null;
  /** Nothing is left to try: whatever the estimate says, the provider is the judge. */
  readonly providerDecides: boolean;
  /** Remedies that were tried since the last successful model call. */
  readonly remedies: readonly Remedy["kind"][];
}

export const NO_RECOVERY_YET: RecoveryState = {
  overflowAttempts: 0,
  timeoutCompactions: 0,
  cut: false,
  autoCompacted: false,
  highMarkIsVain: false,
  engineCannot: false,
  hostCannot: false,
  compactedFor: null,
  providerDecides: false,
  remedies: [],
};

/** A model call without a reply, or one that was held back. */
export interface LoopFailure {
  /** Of docs/errors.md. Absent: its kind says enough. */
  readonly code?: ErrorCode;
  readonly error: ModelError;
  readonly partial: AssistantMessage;
  /** Set when the host held the request back before sending it. */
  readonly heldBack?: true;
  /** What was sent. Absent: nothing was. */
  readonly sent?: {
    readonly hash: string;
    /** When it had failed, ms since the epoch. */
    readonly at: number;
    /** Something of the reply was shown to a person. */
    readonly shown: boolean;
  };
}

/** A request by its hash, and why it was refused. */
export interface RefusedRequest {
  readonly hash: string;
  readonly error: ModelError;
}

/** A compaction under way, and what came of it. */
export interface CompactionUnderWay {
  readonly by: "engine" | "built-in";
  readonly request: CompactionRequest;
  readonly before: HostSession;
  readonly outcome: CompactionOutcome | null;
}

export interface Turn {
  readonly setup: TurnSetup;
  /** What is under way, then what comes after it. */
  readonly todo: readonly TaskName[];
  /** A compaction may move the session to another transcript. */
  readonly session: HostSession;
  readonly engine: {
    /** Why the fallback answers now; null = the engine itself does. */
    readonly aside: EngineFailure | null;
    readonly ownsCompaction: boolean;
    /** Views of this turn that the host could not use. */
    readonly badViews: number;
  };
  /** The person's message once it is stored. */
  readonly prompt: { readonly id: string; readonly entryId: string } | null;
  readonly additions: PromptAdditions | null;
  readonly history: readonly ViewItem[];
  readonly projections: readonly SessionProjection[];
  readonly assembly: Assembly | null;
  /** What is shown in the middle of the turn instead of the assembly; null = the assembly. */
  readonly view: {
    readonly items: readonly ViewItem[];
    /** False: the running turn is to be appended. */
    readonly withTurn: boolean;
  } | null;
  /** What goes to the model next, running turn included, and how large it is. */
  readonly composed: {
    readonly items: readonly ViewItem[];
    /** What the provider counted for the last prompt of the session; 0 = it did not. */
    readonly lastPromptTokens: number;
    /** Of the messages that no provider counted, by estimate. */
    readonly estimatedTokens: number;
    /** Null: nothing was composed yet. */
    readonly size: ContextSize | null;
  };
  readonly calls: number;
  /** The newest text of a program, which is the reply if none follows; null = it said nothing. */
  readonly draft: AssistantMessage | null;
  /** What the host's tool gave that a program called, until the program is told. */
  readonly executed: { readonly outcome: ToolOutcome; readonly ids: readonly string[] } | null;
  /** No call was answered since the engine last chose. */
  readonly freshAssembly: boolean;
  /** Calls of the last reply that have not run yet. */
  readonly wanted: readonly ToolCallBlock[];
  /** The run was cancelled while they ran. */
  readonly toolsAborted: boolean;
  /** What is being handed to the engine; null = nothing is. */
  readonly delivery: {
    readonly queue: readonly Delivery[];
    readonly left: number;
    readonly failure: string | null;
  } | null;
  readonly recovery: RecoveryState;
  /** What is sent differently to the model that is asked now. */
  readonly remedies: readonly Remedy[];
  /** Remedies of this turn that the session does not remember yet. */
  readonly helped: readonly RemedyRecord[];
  /** What was done about failed calls so far, for the report. */
  readonly recoveries: readonly RecoveryReport[];
  /** The newest remedy, until it is known whether it made another request at all. */
  readonly untold: RecoveryReport | null;
  /** The request the provider refused: it is not sent again as it is. */
  readonly refusedRequest: RefusedRequest | null;
  readonly failure: LoopFailure | null;
  readonly compaction: CompactionUnderWay | null;
  /** Why the last compaction did not help. */
  readonly compactionFailure: { readonly reason: string; readonly timedOut: boolean } | null;
  readonly reply: AssistantMessage | null;
  readonly error: TurnError | null;
}

export function newTurn(setup: TurnSetup, todo: readonly TaskName[]): Turn {
  return {
    setup,
    todo: setup.failure === null ? todo : leftOf(setup.failure),
    session: setup.session,
    engine: {
      aside: null,
      ownsCompaction: setup.engine.info.ownsCompaction === true,
      badViews: 0,
    },
    prompt: setup.stored,
    additions: null,
    history: [],
    projections: [],
    assembly: null,
    view: null,
    composed: { items: [], lastPromptTokens: 0, estimatedTokens: 0, size: null },
    calls: 0,
    draft: null,
    executed: null,
    freshAssembly: true,
    wanted: [],
    toolsAborted: false,
    delivery: null,
    recovery: NO_RECOVERY_YET,
    remedies: [],
    helped: [],
    recoveries: [],
    untold: null,
    refusedRequest: null,
    failure: null,
    compaction: null,
    compactionFailure: null,
    reply: null,
    error: setup.failure,
  };
}

/** The message is stored in any case; why the host lets no model be asked stands behind it. */
const leftOf = ({ kind, code }: TurnError): readonly TaskName[] =>
  kind === "host" && code !== undefined ? ["admit", "refuse"] : ["admit"];
