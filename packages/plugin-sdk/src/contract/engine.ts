// What a context engine must do, in the one file that a plugin author reads.
import type { EngineRows } from "./engine-rows.ts";
import type { ContextEngineInfo } from "./info.ts";
import type {
  AfterTurnParams,
  AssembleParams,
  AssembleResult,
  BootstrapParams,
  BootstrapResult,
  CommitTurnParams,
  CommitTurnResult,
  CompactParams,
  CompactResult,
  IngestBatchParams,
  IngestBatchResult,
  IngestParams,
  IngestResult,
  MaintainParams,
  MaintainResult,
  PrepareSubagentSpawnParams,
  SubagentEndedParams,
  SubagentPreparation,
} from "./lifecycle.ts";

/** Hosts await every method and accept a plain value as well. */
type Awaitable<T> = T | Promise<T>;

/**
 * Controls what a language model sees in one agent's sessions (contract §1). `info`, `ingest`,
 * `assemble` and `compact` are required; a host finds out which of the others exist. A method that
 * throws sets the engine aside (quarantine) until a restart or a retry, and the fallback engine
 * answers; an abort never does. An error that nothing can catch is a failure too: a promise that
 * nobody waits for, a timer. No session shows anything of another. No method changes a message it
 * is given.
 */
export interface ContextEngine {
  /**
   * Who the engine is and what it promises; may be a getter: hosts read it once per turn. One that
   * throws, changes its `id` or holds something else than the type says sets the engine aside.
   */
  readonly info: ContextEngineInfo;

  /**
   * Before each run whose transcript file exists. Must be idempotent: the same transcript twice
   * imports nothing twice. If it throws, the run goes on without it. Absent: turns from before the
   * engine was selected are seen in `assemble` only.
   */
  bootstrap?(params: BootstrapParams): Awaitable<BootstrapResult>;

  /**
   * After bootstrap, after an accepted turn and after a compaction. May rewrite transcript entries
   * through `runtimeContext`. Do expensive work only when
   * `runtimeContext.allowDeferredCompactionExecution` is true. If it throws, the reply still
   * stands. Absent: nothing is tidied.
   */
  maintain?(params: MaintainParams): Awaitable<MaintainResult>;

  /**
   * Records one message, whatever its role and content. Called for new messages when neither
   * `afterTurn` nor `ingestBatch` exists. The same message may come twice: answer
   * `{ ingested: false }`; equal words said at another time are another message.
   */
  ingest(params: IngestParams): Awaitable<IngestResult>;

  /**
   * Records the new messages of a turn in order; called instead of `ingest` when it exists and
   * `afterTurn` does not. Absent: `ingest` is called for each.
   */
  ingestBatch?(params: IngestBatchParams): Awaitable<IngestBatchResult>;

  /**
   * After an accepted turn; what a turn left that failed or was aborted comes with the next one.
   * Replaces ingest and ingestBatch when it exists. The transcript file already holds the turn.
   * Record only messages from `prePromptMessageCount` on. A turn told again, also after a crash,
   * adds nothing. One that comes shortened then stays as it was told first. Absent: `ingestBatch`
   * or `ingest` is called.
   */
  afterTurn?(params: AfterTurnParams): Awaitable<void>;

  /**
   * Chooses the messages for a run: oldest first, every tool call with its result, at most
   * `tokenBudget` tokens. The newest message is shown last, wherever there is room. The request
   * that is being answered, and what its tools returned last, are shown at any budget. A message
   * that is shown is shown as it was said, or it is cut and says so. One that was rewritten is
   * shown as the history has it. Nothing is shown of a branch that the given history is not on. A
   * summary of the host's compaction stays, however old, since what it stands for is nowhere else;
   * or the view says that there is more. Where nothing was said, it shows nothing. The same history
   * gives the same messages, after a restart too, so that prompt caches hold. Any of its own views
   * may come back as the history, of another session too. The current prompt is not among them; the
   * host appends it: the list that is answered is the host's own. Must not change `messages` or
   * what is in it. If it throws, the given messages are used.
   */
  assemble(params: AssembleParams): Awaitable<AssembleResult>;

  /**
   * Makes the context smaller for `/compact`, an overflow or a timeout. It is the only way, whether
   * or not the engine owns compaction: one that does not should return
   * `delegateCompactionToRuntime(params)`. `{ ok: true, compacted: true }` promises a smaller next
   * assembly. The newest request stays as it was said. What was compacted stays so after a
   * restart. No other session's compaction undoes it. If it made nothing smaller, `code` tells the
   * host why and `reason` tells people. If it throws, the engine is set aside and the call fails.
   */
  compact(params: CompactParams): Awaitable<CompactResult>;

  /**
   * Before a child session starts. If it throws, the spawn fails; the returned rollback undoes the
   * preparation, and is called at once when nobody waits for the answer any more. Absent: children
   * start without the engine's help.
   */
  prepareSubagentSpawn?(
    params: PrepareSubagentSpawnParams,
  ): Awaitable<SubagentPreparation | undefined>;

  /**
   * After a child session ended, best effort: must not assume that prepareSubagentSpawn ran in this
   * process. Only a child that was "deleted" is forgotten. Absent: the engine is not told.
   */
  onSubagentEnded?(params: SubagentEndedParams): Awaitable<void>;

  /**
   * Durable lifecycle only (`info.transcriptSemantics`): records one accepted turn atomically,
   * exactly once per `advancementKey`. Delivered again after a crash: answer
   * `{ status: "duplicate" }`. Absent: the engine has the eager lifecycle.
   */
  commitTurn?(params: CommitTurnParams): Awaitable<CommitTurnResult>;

  /**
   * On shutdown, reload or eviction; other hosts call it after each operation, so the engine must
   * work again afterwards. No file stays open, and nothing that keeps the process from ending.
   * Absent: there is nothing to let go of.
   */
  dispose?(): Awaitable<void>;
}

/** Methods a host calls through its guard. */
export type EngineMethod = Exclude<keyof ContextEngine, "info" | "dispose">;

/** What a factory learns about the agent it makes an engine for. */
export interface EngineFactoryContext {
  /** The host's whole configuration, unchecked. Absent: the host does not show it. */
  config?: unknown;
  /** Absolute path of the agent's folder, for files of the engine. Absent: the host has none. */
  agentDir?: string;
  /** Absolute path of the folder the agent works in. Absent: it has none. */
  workspaceDir?: string;
  /** Where sessions move between machines. Absent: they stay on this one. */
  sharedRows?: EngineRows;
}

/** Makes the engine for one agent; must also work without an argument. */
export type ContextEngineFactory = (context?: EngineFactoryContext) => Awaitable<ContextEngine>;
