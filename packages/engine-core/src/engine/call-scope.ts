// What hosts know of a guarded engine, and what they lend to its calls.
import type {
  CompactParams,
  CompactResult,
  ContextEngine,
  ContextEngineInfo,
} from "@clew/plugin-sdk/core";
import type { EngineCallReport, EngineFailure } from "../report/engine-call.ts";
import type { QuarantineRecord } from "./quarantine.ts";

/**
 * What a failure of an engine means: `quarantine` sets it aside until a restart, a retry or a new
 * registration, or until the next turn where the failure passes, such as a busy store or full disk;
 * `retry-next-turn` until the next turn, `strict` fails the run. In the first two the fallback
 * answers, visibly.
 */
export type FailurePolicy = "quarantine" | "retry-next-turn" | "strict";

/** Runs code of an engine for whoever owns it ("plugin:<id>", "core"). */
export type CallAs = <Result>(owner: string, call: () => Result) => Result;

/** What one turn (or one standalone operation) lends to its engine calls. */
export interface CallScope {
  /** Ends the calls; an abort is nobody's failure. Absent: nobody aborts. */
  signal?: AbortSignal | undefined;
  /**
   * Stable name of the session that is worked on: a failure then sets the engine aside for that
   * session first. Absent: it is set aside everywhere.
   */
  sessionKey?: string | undefined;
  /**
   * The host's built-in compaction for this session; what it reports as progress extends the bound
   * of the engine's call. Absent: this host has none.
   */
  compaction?:
    | ((params: CompactParams, options: { onProgress: () => void }) => Promise<CompactResult>)
    | undefined;
  /** Told of every call that reached the guard. Absent: nobody is. */
  record?: ((call: EngineCallReport) => void) | undefined;
  /**
   * Told at the moment a failure in this scope sets the engine aside; not of `setAside`, which is
   * the host's own doing. Absent: nobody is.
   */
  onSetAside?: ((record: QuarantineRecord) => void) | undefined;
}

/** The engine as one turn calls it: its methods of the contract, and no other property of it. */
export interface GuardedEngine extends ContextEngine {
  /** As it was when the scope began; once another engine answers, that engine's. */
  readonly info: Readonly<ContextEngineInfo>;
  /** Why the fallback answers now; null while the engine itself does. */
  readonly degraded: EngineFailure | null;
  /** Sets the engine aside as a failed call would: the host cannot use what it answers. */
  reportFailure(operation: string, reason: string): void;
  /** Lets the fallback answer for the rest of this scope, without quarantine. */
  setAside(failure: EngineFailure): void;
  /** Takes back that a failure set it aside for this session; the rest of the scope stays. */
  readmit(): void;
  /**
   * The scope is over: takes back what calls still hold, and lets an engine that was replaced
   * meanwhile be disposed. To be called once, however the scope ended; more is harmless.
   */
  release(): void;
}

/** An engine behind its guard; hosts never call the raw engine. */
export interface EngineGuard {
  /** As it was registered. */
  readonly engineId: string;
  /** Who registered it: "core" or "plugin:<id>". */
  readonly owner: string;
  /** What a failure means. */
  readonly policy: FailurePolicy;
  /** How long one compaction may show no progress, ms. */
  readonly compactBoundMs: number;
  /** How long preparing for a child session may take, and undoing that, ms. */
  readonly spawnBoundMs: number;
  /**
   * What the engine says of itself now, as a frozen snapshot. An engine that cannot say it is set
   * aside, and the fallback's is given. Never throws, but for the fallback engine itself.
   */
  info(): Readonly<ContextEngineInfo>;
  /**
   * The contract, guarded, for one scope; "set aside for this turn" lives as long as the scope. The
   * engine is kept until `release` of the result.
   */
  enter(scope: CallScope): GuardedEngine;
  /**
   * A function of the engine that is not of the contract, unguarded, for hosts that know the
   * engine. Undefined: it has none of that name.
   */
  extension(name: string): ((...args: unknown[]) => unknown) | undefined;
  /** Lets go of the engine, bounded; failures are logged. */
  dispose(): Promise<void>;
}
