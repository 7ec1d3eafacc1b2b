// Wraps an engine so that a failure sets it aside and the fallback answers.
import {
  type CompactParams,
  type CompactResult,
  type ContextEngine,
  ContextEngineError,
  type ContextEngineInfo,
  isAbort,
} from "@clew/plugin-sdk/core";
import type { EngineMethod, RuntimeCompaction } from "@clew/plugin-sdk/host";
import { within } from "@clew/plugin-sdk/host";
import type { ClockPort, LogPort } from "../ports.ts";
import type { EngineCallReport, EngineFailure } from "../report.ts";
import { DEFAULT_BOUNDS_MS, engineTimeout } from "./bounds.ts";
import { withRuntimeCompaction } from "./compaction-scope.ts";
import { callCompatibly, type RejectedKeys } from "./compat.ts";
import {
  codeOf,
  describeError,
  failureOf,
  type Quarantine,
  type QuarantineRecord,
} from "./quarantine.ts";
import { resultProblem } from "./validate.ts";

/**
 * What a failure of an engine means: `quarantine` sets it aside until restart or
 * re-registration, `retry-next-turn` until the next turn, `strict` fails the run. In the first
 * two the fallback answers, visibly.
 */
export type FailurePolicy = "quarantine" | "retry-next-turn" | "strict";

/** What one turn (or one standalone operation) lends to its engine calls. */
export interface CallScope {
  /** Ends the calls; an abort is nobody's failure. Absent: nobody aborts. */
  signal?: AbortSignal | undefined;
  /**
   * The host's built-in compaction for this session; what it reports as progress extends the bound
   * of the engine's call. Absent: this host has none.
   */
  compaction?:
    | ((params: CompactParams, options: { onProgress: () => void }) => Promise<CompactResult>)
    | undefined;
  /** Told of every call that reached the guard. Absent: nobody is. */
  record?: ((call: EngineCallReport) => void) | undefined;
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
  /** The raw engine's info, or the fallback's while the engine is set aside. */
  info(): ContextEngineInfo;
  /** The contract, guarded, for one scope; "set aside for this turn" lives as long as the scope. */
  enter(scope: CallScope): GuardedEngine;
  /** Lets go of the engine, bounded; failures are logged. */
  dispose(): Promise<void>;
}

/** The engine as one turn calls it. */
export interface GuardedEngine extends ContextEngine {
  /** Why the fallback answers now; null while the engine itself does. */
  readonly degraded: EngineFailure | null;
  /** Lets the fallback answer for the rest of this scope, without quarantine. */
  setAside(failure: EngineFailure): void;
}

export interface GuardOptions {
  engineId: string;
  owner: string;
  engine: ContextEngine;
  /** Made on first need, once. */
  fallback: () => Promise<ContextEngine>;
  /** Undefined for the fallback engine itself: its failures are the host's. */
  quarantine?: Quarantine;
  policy?: FailurePolicy;
  /** Milliseconds, per method. */
  bounds?: Partial<Record<EngineMethod | "dispose", number>>;
  log: LogPort;
  clock: ClockPort;
}

const GUARDED = new Set<PropertyKey>([
  "bootstrap",
  "maintain",
  "ingest",
  "ingestBatch",
  "afterTurn",
  "commitTurn",
  "assemble",
  "compact",
  "prepareSubagentSpawn",
  "onSubagentEnded",
] satisfies EngineMethod[]);

/**
 * Failures of these are the caller's to handle: a wrong "it worked" would be worse than
 * an error (contract §2.4).
 */
const FAIL_CLOSED = new Set<EngineMethod>(["compact", "prepareSubagentSpawn"]);

const DOWNGRADED = "context engine downgraded to legacy";
const FALLBACK_RESULTS: Partial<Record<EngineMethod, unknown>> = {
  bootstrap: { bootstrapped: false, reason: DOWNGRADED },
  maintain: { changed: false, bytesFreed: 0, rewrittenEntries: 0, reason: DOWNGRADED },
  ingest: { ingested: false },
  ingestBatch: { ingestedCount: 0 },
};

export function guardEngine(options: GuardOptions): EngineGuard {
  const { engineId, owner, engine, quarantine, log, clock } = options;
  const policy = options.policy ?? "quarantine";
  const bounds = { ...DEFAULT_BOUNDS_MS, ...options.bounds };
  const rejected: RejectedKeys = new Set();

  function enter(scope: CallScope): GuardedEngine {
    let setAside: QuarantineRecord | undefined;
    let fallback: ContextEngine | undefined;
    const failure = () => setAside ?? quarantine?.get(engineId);
    const degraded = () => {
      const record = failure();
      return record === undefined ? null : failureOf(record);
    };

    const leaveAside = (given: EngineFailure) => {
      setAside = { engineId, ...given, failedAt: clock.now() };
    };

    async function callFallback(method: EngineMethod, params: object): Promise<unknown> {
      fallback ??= await options.fallback();
      const implementation = fallback[method] as ((params: object) => unknown) | undefined;
      if (typeof implementation !== "function") return FALLBACK_RESULTS[method];
      return withRuntimeCompaction(runtimeCompaction(), () =>
        implementation.call(fallback, params),
      );
    }

    const runtimeCompaction = (onProgress: () => void = () => {}): RuntimeCompaction | undefined =>
      // Built-in compaction that delegates in turn would find itself: it finds nothing.
      scope.compaction &&
      ((params) =>
        withRuntimeCompaction(undefined, () => scope.compaction!(params, { onProgress })));

    function callEngine(
      method: EngineMethod,
      params: object,
      signal: AbortSignal | undefined,
    ): Promise<unknown> {
      const boundMs = bounds[method];
      return within<unknown>(
        {
          boundMs,
          signal,
          onTimeout: () => {
            throw engineTimeout(engineId, method, boundMs);
          },
          onLate: ({ ok }) =>
            log.warn(
              `engine "${engineId}": ${method} ${ok ? "answered" : "failed"} after the host had stopped waiting; ignored`,
            ),
        },
        (restart) =>
          withRuntimeCompaction(runtimeCompaction(restart), () =>
            callCompatibly(engine, method, params, rejected),
          ),
      );
    }

    async function invoke(method: EngineMethod, params: object): Promise<unknown> {
      const signal = (params as { abortSignal?: AbortSignal }).abortSignal ?? scope.signal;
      signal?.throwIfAborted();
      const started = clock.monotonic();
      const record = (outcome: EngineCallReport["outcome"], detail?: string) =>
        scope.record?.({
          method,
          durationMs: clock.monotonic() - started,
          outcome,
          ...(detail !== undefined && { detail }),
        });

      if (failure() !== undefined) {
        const result = await callFallback(method, params);
        record("fallback");
        return result;
      }
      try {
        const result = await callEngine(method, params, signal);
        const problem = resultProblem(
          engineId,
          method,
          result,
          (params as { messages?: readonly unknown[] }).messages,
        );
        if (problem !== undefined)
          throw new ContextEngineError("ENGINE_OPERATION_FAILED", problem, {
            engineId,
            operation: method,
          });
        record("ok");
        return result;
      } catch (error) {
        if (signal?.aborted && isAbort(error, signal)) {
          record("aborted");
          throw error;
        }
        record(
          ContextEngineError.is(error, "ENGINE_TIMEOUT") ? "timeout" : "failed",
          describeError(error),
        );
        if (quarantine === undefined || policy === "strict") throw error;
        if (policy === "quarantine") quarantine.add({ engineId, owner, operation: method, error });
        else leaveAside({ operation: method, reason: describeError(error), code: codeOf(error) });
        if (FAIL_CLOSED.has(method)) throw error;
        return callFallback(method, params).catch(() => {
          throw error;
        });
      }
    }

    // `this` stays the raw engine everywhere: engines may use private fields.
    return new Proxy(engine, {
      get(_target, key) {
        if (key === "degraded") return degraded();
        if (key === "setAside") return leaveAside;
        if (key === "info")
          return failure() !== undefined && fallback !== undefined ? fallback.info : engine.info;
        const value: unknown = Reflect.get(engine, key, engine);
        if (typeof value !== "function") return value;
        if (GUARDED.has(key)) return (params: object) => invoke(key as EngineMethod, params);
        return value.bind(engine) as unknown;
      },
    }) as GuardedEngine;
  }

  return {
    engineId,
    owner,
    policy,
    compactBoundMs: bounds.compact,
    info: () => engine.info,
    enter,
    async dispose() {
      if (typeof engine.dispose !== "function") return;
      try {
        const onTimeout = () => {
          throw engineTimeout(engineId, "dispose", bounds.dispose);
        };
        await within<unknown>({ boundMs: bounds.dispose, onTimeout }, () => engine.dispose?.());
      } catch (error) {
        log.warn(`engine "${engineId}": dispose failed: ${describeError(error)}`);
      }
    },
  };
}
