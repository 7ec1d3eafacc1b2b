// Wraps an engine so that a failure sets it aside and the fallback answers.
import {
  type CompactParams,
  type CompactResult,
  type ContextEngine,
  ContextEngineError,
  type ContextEngineInfo,
  isAbort,
} from "@clew/plugin-sdk/core";
import { type EngineMethod, type RuntimeCompaction, within } from "@clew/plugin-sdk/host";
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
  /** The engine's own info, read each time, whether it is set aside or not. */
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
  const { engineId, owner, engine, log } = options;
  const guarded: Guarded = {
    ...options,
    policy: options.policy ?? "quarantine",
    bounds: { ...DEFAULT_BOUNDS_MS, ...options.bounds },
    rejected: new Set(),
  };
  const { policy, bounds } = guarded;
  return {
    engineId,
    owner,
    policy,
    compactBoundMs: bounds.compact,
    info: () => engine.info,
    enter: (lent) => enter({ guarded, lent, setAside: undefined, fallback: undefined }),
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

/** One engine with what is settled for all its calls. */
interface Guarded extends GuardOptions {
  policy: FailurePolicy;
  bounds: Readonly<Record<EngineMethod | "dispose", number>>;
  rejected: RejectedKeys;
}

/** One scope of calls: what it was lent, and what its calls leave behind. */
interface Scope {
  readonly guarded: Guarded;
  readonly lent: CallScope;
  setAside: QuarantineRecord | undefined;
  fallback: ContextEngine | undefined;
}

function enter(scope: Scope): GuardedEngine {
  const { engine } = scope.guarded;
  const setAside: GuardedEngine["setAside"] = (failure) => leaveAside(scope, failure);
  // `this` stays the raw engine everywhere: engines may use private fields.
  return new Proxy(engine, {
    get(_target, key) {
      if (key === "degraded") {
        const record = failureIn(scope);
        return record === undefined ? null : failureOf(record);
      }
      if (key === "setAside") return setAside;
      if (key === "info")
        return failureIn(scope) !== undefined && scope.fallback !== undefined
          ? scope.fallback.info
          : engine.info;
      const value: unknown = Reflect.get(engine, key, engine);
      if (typeof value !== "function") return value;
      if (GUARDED.has(key)) return (params: object) => invoke(scope, key as EngineMethod, params);
      return value.bind(engine) as unknown;
    },
  }) as GuardedEngine;
}

/** Why the engine is not asked now: for this scope, or for everybody. */
const failureIn = ({ setAside, guarded }: Scope): QuarantineRecord | undefined =>
  setAside ?? guarded.quarantine?.get(guarded.engineId);

function leaveAside(scope: Scope, failure: EngineFailure): void {
  const { engineId, clock } = scope.guarded;
  scope.setAside = { engineId, ...failure, failedAt: clock.now() };
}

async function invoke(scope: Scope, method: EngineMethod, params: object): Promise<unknown> {
  const { guarded, lent } = scope;
  const signal = (params as { abortSignal?: AbortSignal }).abortSignal ?? lent.signal;
  signal?.throwIfAborted();
  const started = guarded.clock.monotonic();
  const record = (outcome: EngineCallReport["outcome"], detail?: string) =>
    lent.record?.({
      method,
      durationMs: guarded.clock.monotonic() - started,
      outcome,
      ...(detail !== undefined && { detail }),
    });

  if (failureIn(scope) !== undefined) {
    const result = await callFallback(scope, method, params);
    record("fallback");
    return result;
  }
  try {
    const result = await callEngine(scope, method, params, signal);
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
    return answerFailure(scope, method, params, error);
  }
}

/** The engine's own answer, in time and as the contract says, or a throw. */
async function callEngine(
  { guarded, lent }: Scope,
  method: EngineMethod,
  params: object,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const { engine, engineId, bounds, rejected, log } = guarded;
  const boundMs = bounds[method];
  const result = await within<unknown>(
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
      withRuntimeCompaction(compactionWithin(lent, restart), () =>
        callCompatibly(engine, method, params, rejected),
      ),
  );
  const { messages } = params as { messages?: readonly unknown[] };
  const problem = resultProblem(engineId, method, result, messages);
  if (problem === undefined) return result;
  throw new ContextEngineError("ENGINE_OPERATION_FAILED", problem, { engineId, operation: method });
}

/** What a failure means by the guard's policy: a throw, or the fallback's answer. */
async function answerFailure(
  scope: Scope,
  method: EngineMethod,
  params: object,
  error: unknown,
): Promise<unknown> {
  const { engineId, owner, quarantine, policy } = scope.guarded;
  if (quarantine === undefined || policy === "strict") throw error;
  if (policy === "quarantine") quarantine.add({ engineId, owner, operation: method, error });
  else leaveAside(scope, { operation: method, reason: describeError(error), code: codeOf(error) });
  if (FAIL_CLOSED.has(method)) throw error;
  return callFallback(scope, method, params).catch(() => {
    throw error;
  });
}

async function callFallback(scope: Scope, method: EngineMethod, params: object): Promise<unknown> {
  scope.fallback ??= await scope.guarded.fallback();
  const { fallback, lent } = scope;
  const implementation = fallback[method] as ((params: object) => unknown) | undefined;
  if (typeof implementation !== "function") return FALLBACK_RESULTS[method];
  return withRuntimeCompaction(compactionWithin(lent), () => implementation.call(fallback, params));
}

/** Built-in compaction that delegates in turn would find itself: it finds nothing. */
const compactionWithin = (
  { compaction }: CallScope,
  onProgress: () => void = () => {},
): RuntimeCompaction | undefined =>
  compaction &&
  ((params) => withRuntimeCompaction(undefined, () => compaction(params, { onProgress })));
