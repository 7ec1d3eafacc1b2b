// What an engine says about itself, and which host capabilities an operation may need.

/** What a host may be about to do with an engine. */
export type EngineOperation = "agent-run" | "manual-compact" | "subagent-spawn";

/**
 * What a host can do for an engine; each name says which call or helper the engine may count on.
 */
export type HostCapability =
  | "bootstrap"
  | "assemble-before-prompt"
  | "after-turn"
  | "maintain"
  | "compact"
  | "runtime-llm-complete"
  | "thread-bootstrap-projection";

/** What one operation needs; a host that lacks any of it refuses to start (contract §2.6). */
export interface HostRequirement {
  /** All of them are needed; an empty list needs nothing. */
  requiredCapabilities: HostCapability[];
  /**
   * What the operator should do, added to the error. Absent: the error names what is missing only.
   */
  unsupportedMessage?: string;
}

/**
 * Keys that newer hosts add to method parameters; an engine may declare which of them it accepts.
 */
export type HostAddedParam =
  | "sessionKey"
  | "prompt"
  | "runtimeSettings"
  | "sessionTarget"
  | "runtimeContext"
  | "abortSignal";

/**
 * Who an engine is and what it promises (contract §1.1). May be a getter: hosts read it again each
 * turn. Only `id` and `name` are required.
 */
export interface ContextEngineInfo {
  /**
   * For display; not blank. Need not equal the id it was registered under, which the slot names.
   */
  id: string;
  /** For display; not blank. */
  name: string;
  /**
   * For display; and a turn that was parked is offered again when it changes. Absent: shown without
   * one.
   */
  version?: string;
  /**
   * True (the literal): the host's own compaction between model calls is off and the engine decides
   * (contract §3.6). Absent: false.
   */
  ownsCompaction?: boolean;
  /**
   * "background": `maintain` after a turn runs behind the reply. Absent, or any other word:
   * "foreground".
   */
  turnMaintenanceMode?: "foreground" | "background" | (string & {});
  /**
   * Which host capabilities each operation needs. Absent: none, for the operations left out too.
   */
  hostRequirements?: Partial<Record<EngineOperation, HostRequirement>>;
  /**
   * Host-added parameters this engine accepts (`HostAddedParam`); `[]` = none. Absent: all.
   * In `assemble`, `sessionTarget` and `runtimeContext` are for engines that name them only.
   */
  acceptedHostParams?: readonly string[];
  /** Both fields and `commitTurn` together select the durable lifecycle. Absent: the eager one. */
  transcriptSemantics?: {
    /** The engine reads the transcript before the running turn only. Absent: eager lifecycle. */
    currentTurnFence?: "before-current-turn-entry-v1";
    /** `commitTurn` is atomic and idempotent per key. Absent: eager lifecycle. */
    turnAdvancementIdempotency?: "atomic-idempotent-v1";
  };
}
