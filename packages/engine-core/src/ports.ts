// What a host supplies, since engine-core does no I/O of its own.
import type {
  AgentMessage,
  AssistantMessage,
  CompactResult,
  ToolCallBlock,
  ToolResultBlock,
  TranscriptRewriteRequest,
  TranscriptRewriteResult,
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
import type { NewTranscriptEntry, TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { ReportParts, TurnReport } from "./report.ts";

/** The identity of one session as ports know it. */
export interface HostSession {
  /** Whose session it is. */
  agentId: string;
  /** Its current transcript; a compaction may move it to another. */
  sessionId: string;
  /** Its stable name. */
  sessionKey: string;
  /**
   * Absolute path of the transcript; engines of the eager lifecycle read it themselves. Absent:
   * this host keeps no file, and engines are told of every message instead.
   */
  sessionFile?: string;
}

/**
 * Which entries of a branch: those that follow the entry `after` (null = from the first on), or the
 * newest `tail`.
 */
export type BranchPart = { after: string | null } | { tail: number };

/** One session's transcript, opened for writing by this host alone. */
export interface TranscriptPort {
  /** Which session this is. */
  readonly session: HostSession;
  /**
   * True when the transcript file already holds a session: only then may an
   * engine bootstrap from it.
   */
  exists(): boolean;
  /**
   * Entries of the active branch, oldest first, the same objects on every call; null when
   * `after` is not on the branch any more. Asked before every effect of a turn, nearly always for
   * what follows the newest entry that was read: a store that knows its leaf answers that from
   * memory.
   */
  read(part: BranchPart): Promise<readonly TranscriptEntry[] | null>;
  /**
   * Appends after the leaf; resolves when the entries are durable. A message without an id gets
   * its entry's, as `placeEntry` does it. Throws STORAGE_FAILED when they could not be written.
   */
  append(entries: readonly NewTranscriptEntry[]): Promise<readonly TranscriptEntry[]>;
  /**
   * `append` for a store that is one database: entries, ledger changes and the report of the turn
   * that ends, in one transaction. Either all of it is there when it resolves, in `read` and
   * `deliveries` too, or it throws and none of it is, ever. Asked instead of `append` in turns.
   * Absent: entries and ledger are stored one after the other, and the report is the host's to
   * store.
   */
  appendStep?(step: TranscriptStep): Promise<readonly TranscriptEntry[]>;
  /**
   * Replaces messages by re-appending the suffix of the branch (contract §1.5); messages keep
   * their ids, replacements too. Throws TRANSCRIPT_MOVED when it moved meanwhile, and
   * REQUEST_INVALID when a replacement is no message. `remapped` gives the new id of each entry
   * that was appended again.
   */
  rewrite(
    request: TranscriptRewriteRequest,
  ): Promise<TranscriptRewriteResult & { remapped?: ReadonlyMap<string, string> }>;
  /**
   * What each engine has acknowledged of this session; a successor goes on with it. Absent: it is
   * kept in memory, and this host runs the eager lifecycle only.
   */
  readonly deliveries?: DeliveryPort;
}

/** What is stored together. Each part may be missing, not all of them. */
export interface TranscriptStep {
  /** As for `append`. */
  entries: readonly NewTranscriptEntry[];
  /** What engines acknowledged or refused just before, in order. */
  deliveries: readonly DeliveryLine[];
  /** Of the turn or compaction that ends with this step, as it is returned; null = none ends. */
  report: { report: TurnReport; parts: ReportParts } | null;
}

/** How often an engine refused a turn, and why. */
export interface Refusal {
  /** Times it was offered in vain. */
  attempts: number;
  /** Of the last attempt, for people. */
  reason: string;
  /** The engine's version then; another version is offered the turn anew. Null = it named none. */
  version: string | null;
}

/** What one engine has acknowledged. */
export interface DeliveryRecord {
  /**
   * The session id at the engine's first sight. Names the session in keys of its turns, whatever
   * transcript the session moves to.
   */
  readonly root: string;
  /** Ids of the messages it took. */
  readonly acknowledged: ReadonlySet<string>;
  /** Turns it refused, by the id of their first message. */
  readonly refused: ReadonlyMap<string, Refusal>;
}

/** One line of a ledger; a record is what its lines add up to. */
export type DeliveryChange =
  /** The engine sees the session for the first time; `ids` are none of its business any more. */
  | { kind: "seen"; root: string; ids: readonly string[] }
  | { kind: "acknowledged"; ids: readonly string[] }
  | { kind: "refused"; turnId: string; reason: string; version: string | null }
  /** Somebody asked for one more attempt at a turn that was refused. */
  | { kind: "retry"; turnId: string };

/** A change, and whose record it changes. */
export interface DeliveryLine {
  /** The engine of the record. */
  engineId: string;
  /** What is new in it. */
  change: DeliveryChange;
}

/** Keeps the records of one session's engines. */
export interface DeliveryPort {
  /** Undefined: this engine has never been told of the session. */
  read(engineId: string): DeliveryRecord | undefined;
  /** Ids of the engines that were told of it. */
  engines(): readonly string[];
  /** Resolves when a restart would find it. */
  save(engineId: string, change: DeliveryChange): Promise<void>;
}

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

/** Moves a session to the transcript an engine made for it. */
export interface SuccessorPort {
  /**
   * Compare-and-set: resolves to the opened successor, or undefined when the
   * session had moved on meanwhile.
   */
  adopt(move: {
    from: HostSession;
    sessionId: string;
    sessionFile: string | undefined;
    /**
     * To be awaited with the opened successor before the session is moved to it: brings the running
     * turn and what engines have acknowledged, so that a crash finds both or neither.
     */
    prepare(successor: TranscriptPort): Promise<void>;
  }): Promise<TranscriptPort | undefined>;
}

/** What a tool gave, or why it did not. */
export interface ToolOutcome {
  /** What the model is shown. */
  content: ToolResultBlock[];
  /** True: it failed or was refused, and `content` says why. */
  isError: boolean;
  /** For people and plugins; never sent to a model. Absent: none. */
  details?: unknown;
}

/** Tools of the host and its plugins. */
export interface ToolPort {
  /**
   * What the model is offered in this session; the same tools in the same order keep caches warm.
   */
  list(session: HostSession): readonly ToolDefinition[];
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
