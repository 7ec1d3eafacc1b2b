// What a host supplies, since engine-core does no I/O of its own.
import type {
  AgentMessage,
  AssistantMessage,
  CompactParams,
  CompactResult,
  ToolCallBlock,
  ToolResultBlock,
  TranscriptRewriteRequest,
  TranscriptRewriteResult,
} from "@clew/plugin-sdk/core";
import type {
  ModelCall,
  ModelError,
  ModelRef,
  PolicyChange,
  PolicySideRecord,
  StreamEvent,
  ToolDefinition,
} from "@clew/plugin-sdk/host";
import type { NewTranscriptEntry, TranscriptEntry } from "@clew/plugin-sdk/transcript";

/** The identity of one session as ports know it. */
export interface HostSession {
  agentId: string;
  sessionId: string;
  sessionKey: string;
  /** Absolute path of the transcript; engines of the eager lifecycle read it themselves. */
  sessionFile: string;
}

/** One session's transcript, opened for writing by this host alone. */
export interface TranscriptPort {
  readonly session: HostSession;
  /**
   * True when the transcript file already holds a session: only then may an
   * engine bootstrap from it.
   */
  exists(): boolean;
  /**
   * The active branch, oldest first. The array is not changed later; entries are the
   * same objects on every call.
   */
  branch(): readonly TranscriptEntry[];
  /**
   * Appends after the leaf; resolves when the entries are durable. Throws STORAGE_FAILED when
   * they could not be written.
   */
  append(entries: readonly NewTranscriptEntry[]): Promise<readonly TranscriptEntry[]>;
  /**
   * Replaces messages by re-appending the suffix of the branch (contract §1.5). Throws
   * TRANSCRIPT_MOVED when it moved meanwhile. `remapped` gives the new id of each entry
   * that was appended again.
   */
  rewrite(
    request: TranscriptRewriteRequest,
  ): Promise<TranscriptRewriteResult & { remapped?: ReadonlyMap<string, string> }>;
  /** What durable engines have committed; absent = this host runs the eager lifecycle only. */
  readonly outbox?: OutboxPort;
}

/** How far one engine of the durable lifecycle has been told of this session. */
export interface CommitCursor {
  engineId: string;
  /** Last entry the engine committed; null = none yet. */
  entryId: string | null;
  /** Failed attempts at the turn after it, and why the last one failed. */
  attempts: number;
  lastError: string | null;
}

/**
 * Remembers per engine how far it committed. What is still to be committed is not
 * stored: it is the active branch after the cursor, so that no accepted, failed or
 * killed turn can be missing from it.
 */
export interface OutboxPort {
  cursor(engineId: string): CommitCursor | undefined;
  /** Durable when resolved. */
  save(cursor: CommitCursor): Promise<void>;
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
  /** The model behind "provider/id"; undefined when the host does not know it. */
  resolve?(reference: string): ModelRef | undefined;
}

export interface PolicyInput {
  messages: readonly AgentMessage[];
  model: ModelRef;
  allowedToolNames?: readonly string[];
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
  /** `onProgress` tells that work goes on: it extends the time bound of the call. */
  compact(params: CompactParams, options?: { onProgress?: () => void }): Promise<CompactResult>;
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
  }): Promise<TranscriptPort | undefined>;
}

export interface ToolOutcome {
  content: ToolResultBlock[];
  isError: boolean;
  /** For people and plugins; never sent to a model. */
  details?: unknown;
}

/** Tools of the host and its plugins. */
export interface ToolPort {
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
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/** Counts are −1 when the engine compacts by its own rules and the host cannot know them. */
export interface CompactionHookEvent {
  session: HostSession;
  trigger: string;
  messageCount: number;
  /** Tokens. */
  tokenCount: number;
}

/** What plugins may want to be told; a hook that throws is logged and changes nothing. */
export interface HookPort {
  beforeCompaction?(event: CompactionHookEvent): Promise<void>;
  /** `previousSessionId` is set when the session moved to a successor. */
  afterCompaction?(
    event: CompactionHookEvent & { compacted: boolean; previousSessionId?: string },
  ): Promise<void>;
}

export interface HostPorts {
  transcript: TranscriptPort;
  model: ModelPort;
  policy?: PolicyPort;
  tools?: ToolPort;
  compaction?: CompactionPort;
  successors?: SuccessorPort;
  hooks?: HookPort;
  log: LogPort;
  clock: ClockPort;
  ids: IdPort;
}

export interface ClockPort {
  /** ms since the epoch. */
  now(): number;
  /** Monotonic ms, for durations. */
  monotonic(): number;
}

export interface IdPort {
  /** A fresh unique id. */
  next(): string;
  /** A content hash of `text`, hex; equal texts, equal hashes. */
  hash(text: string): string;
}
