// What a host supplies, since engine-core does no I/O of its own.
import type {
  AgentMessage,
  AssistantMessage,
  CompactResult,
  ToolCallBlock,
} from "@clew/plugin-sdk/core";
import type {
  CompactionAsk,
  ModelCall,
  ModelError,
  ModelRef,
  PolicyChange,
  PolicySideRecord,
  RefusedParts,
  StreamEvent,
  ToolDefinition,
} from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { ExecutionPort } from "./execution-port.ts";
import type { ToolOutcome } from "./tool-outcome.ts";
import type { HostSession, SuccessorPort, TranscriptPort } from "./transcript-port.ts";

/** The model behind a run. */
export interface ModelPort {
  /** Ends with exactly one `done` or `error` event; never throws for what a provider did. */
  stream(call: ModelCall): AsyncIterable<StreamEvent>;
  /** The same call, unstreamed: the reply, or why there is none. */
  complete(
    call: ModelCall,
  ): Promise<
    | { ok: true; message: AssistantMessage }
    | { ok: false; error: ModelError; partial: AssistantMessage }
  >;
  /**
   * The model behind "provider/id"; undefined when the host does not know it. Absent: engines
   * cannot name models.
   */
  resolve?(reference: string): ModelRef | undefined;
}

/** A history, and the model it is meant for. */
export interface PolicyInput {
  /** Oldest first; not changed. */
  messages: readonly AgentMessage[];
  /** Provider and wire decide what is required. */
  model: ModelRef;
  /** Calls of other tools are dropped. Absent: none are; no caller yet. */
  allowedToolNames?: readonly string[];
  /** What this model refused of the session; for `prepareOutbound` alone. Absent: nothing. */
  refused?: RefusedParts;
}

/**
 * What a provider requires of a history. Every method returns the same array
 * when nothing had to change.
 */
export interface PolicyPort {
  /** Before an engine assembles. */
  sanitizeHistory(input: PolicyInput & { branch: readonly TranscriptEntry[] }): Promise<{
    messages: readonly AgentMessage[];
    changes: readonly PolicyChange[];
    sideRecords: readonly PolicySideRecord[];
  }>;
  /** After anything that cut or re-ordered history: every tool call with its result again. */
  repairPairing(input: PolicyInput): {
    messages: readonly AgentMessage[];
    changes: readonly PolicyChange[];
  };
  /** Before each model call, over history and the running turn. */
  prepareOutbound(input: PolicyInput): {
    messages: readonly AgentMessage[];
    changes: readonly PolicyChange[];
  };
}

/** The host's built-in compaction: what `delegateCompactionToRuntime` reaches. */
export interface CompactionPort {
  /** Compacts the turn's session; what cannot be done is a result, not a throw. */
  compact(ask: CompactionAsk, options?: CompactionCallOptions): Promise<CompactResult>;
}

/** What a call of the built-in compaction is given besides what is asked. */
export interface CompactionCallOptions {
  /** Fires when the work must stop. Absent: it never must. */
  signal?: AbortSignal | undefined;
  /** Tells that work goes on, which extends the time bound of the call. Absent: nobody asks. */
  onProgress?: (() => void) | undefined;
}

/** Tools of the host and its plugins. */
export interface ToolPort {
  /**
   * What the model is offered in this session; the same tools in the same order keep caches warm.
   * Asked again before each request, which is offered what was listed then.
   */
  list(session: HostSession): readonly ToolDefinition[];
  /**
   * Brings the list up to date before a request; the request waits for it. Rejects only when it is
   * stopped. Absent: the list is up to date.
   */
  refresh?(request: { session: HostSession; signal: AbortSignal }): Promise<void>;
  /**
   * Runs one call, with the host's approval rules; a refusal or failure is an outcome
   * with `isError`, not a throw.
   */
  run(request: {
    call: ToolCallBlock;
    session: HostSession;
    signal: AbortSignal;
  }): Promise<ToolOutcome>;
}

/**
 * One line per decision an operator could act on; `fields` must hold no
 * message content and no keys.
 */
export interface LogPort {
  /** What was decided. */
  info(message: string, fields?: Record<string, unknown>): void;
  /** What went wrong and was answered. */
  warn(message: string, fields?: Record<string, unknown>): void;
  /** What an operator should look at. */
  error(message: string, fields?: Record<string, unknown>): void;
}

/** Counts are −1 when the engine compacts by its own rules and the host cannot know them. */
export interface CompactionHookEvent {
  /** The session as it was before. */
  session: HostSession;
  /** What asked for it: "manual", "threshold", "budget", "overflow" or "timeout_recovery". */
  trigger: string;
  /** Messages of the context; −1 = not known. */
  messageCount: number;
  /** Tokens of the context; −1 = not known. */
  tokenCount: number;
}

/** What plugins may want to be told; a hook that throws is logged and changes nothing. */
export interface HookPort {
  /** Absent: nobody wants to know. */
  beforeCompaction?(event: CompactionHookEvent): Promise<void>;
  /**
   * `previousSessionId` is set when the session moved to a successor. Absent: nobody wants to know.
   */
  afterCompaction?(
    event: CompactionHookEvent & { compacted: boolean; previousSessionId?: string },
  ): Promise<void>;
}

/** A step of a turn that a tracer follows. */
export interface Span {
  /** Called once. */
  end(
    outcome: "ok" | "failed" | "aborted",
    attributes: Readonly<Record<string, string | number>>,
  ): void;
}

/** A tracer, as OpenTelemetry has them; one that throws changes nothing. */
export interface SpanPort {
  /** Attributes hold no message content and no keys. */
  start(name: string, attributes: Readonly<Record<string, string | number>>): Span;
}

/** Everything a host lends to a turn; what is absent is something the host cannot do. */
export interface HostPorts {
  /** The session to work on. */
  transcript: TranscriptPort;
  /** Who answers. */
  model: ModelPort;
  /** What the provider requires. Absent: messages are sent as they are. */
  policy?: PolicyPort;
  /** Absent: the model is offered none. */
  tools?: ToolPort;
  /**
   * Who runs turns in place of this package and `model`. Absent: nobody, the embedded runner does.
   */
  execution?: ExecutionPort;
  /** Absent: engines that do not own compaction cannot compact. */
  compaction?: CompactionPort;
  /** Absent: a session stays in its transcript. */
  successors?: SuccessorPort;
  /** Absent: no plugin is told of compactions. */
  hooks?: HookPort;
  /** Absent: nobody traces. */
  spans?: SpanPort;
  /** Where decisions are told. */
  log: LogPort;
  /** Time, so that tests can hold it. */
  clock: ClockPort;
  /** Ids and hashes, so that tests can repeat them. */
  ids: IdPort;
}

/** Time as the host sees it. */
export interface ClockPort {
  /** ms since the epoch. */
  now(): number;
  /** Monotonic ms, for durations. */
  monotonic(): number;
}

/** Names for new things, and for contents. */
export interface IdPort {
  /** A fresh unique id. */
  next(): string;
  /** A content hash of `text`, hex; equal texts, equal hashes. */
  hash(text: string): string;
}
