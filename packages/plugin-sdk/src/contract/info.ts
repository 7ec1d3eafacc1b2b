// What an engine says about itself, and which host capabilities an operation may need.

export type EngineOperation = "agent-run" | "manual-compact" | "subagent-spawn";

export type HostCapability =
  | "bootstrap"
  | "assemble-before-prompt"
  | "after-turn"
  | "maintain"
  | "compact"
  | "runtime-llm-complete"
  | "thread-bootstrap-projection";

export interface HostRequirement {
  requiredCapabilities: HostCapability[];
  /** Added to the error when a capability is missing: what the operator should do. */
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
 * Who an engine is and what it promises (contract §1.1). May be a getter: hosts read it anew each
 * time. Only `id` and `name` are required; `id` need not equal the id it was registered under.
 */
export interface ContextEngineInfo {
  id: string;
  name: string;
  version?: string;
  /**
   * True (the literal): the host's own in-attempt compaction is off and the
   * engine decides; contract §3.6.
   */
  ownsCompaction?: boolean;
  /** "background": `maintain` after a turn runs behind the reply. Anything else is foreground. */
  turnMaintenanceMode?: "foreground" | "background" | (string & {});
  hostRequirements?: Partial<Record<EngineOperation, HostRequirement>>;
  /** Host-added parameters this engine accepts; `[]` = none; not declared = all. */
  acceptedHostParams?: readonly string[];
  /** Both fields and `commitTurn` together select the durable lifecycle. */
  transcriptSemantics?: {
    currentTurnFence?: "before-current-turn-entry-v1";
    turnAdvancementIdempotency?: "atomic-idempotent-v1";
  };
}
