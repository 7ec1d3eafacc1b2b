// Wraps an engine so that hosts call it within bounds and a fallback answers for it.
import {
  type ContextEngine,
  ContextEngineError,
  type ContextEngineInfo,
} from "@clew/plugin-sdk/core";
import type { EngineMethod } from "@clew/plugin-sdk/host";
import type { ClockPort, LogPort } from "../ports.ts";
import { type Bounds, DEFAULT_BOUNDS_MS } from "./bounds.ts";
import type { CallScope, EngineGuard, FailurePolicy, GuardedEngine } from "./call-scope.ts";
import { nothingLearned } from "./compat.ts";
import { readQuietly } from "./describe-error.ts";
import { disposeEngine } from "./dispose.ts";
import { invoke } from "./guarded-call.ts";
import { readInfo } from "./info.ts";
import type { Leases } from "./leases.ts";
import { type MethodsReading, OPTIONAL_METHODS, REQUIRED_METHODS, readMethods } from "./methods.ts";
import { failureOf, type Quarantine, type QuarantineRecord } from "./quarantine.ts";
import {
  failureIn,
  type Guarded,
  infoIn,
  leaveAside,
  readmit,
  type Scope,
  setAsideFor,
} from "./scope-state.ts";

export type { CallScope, EngineGuard, FailurePolicy, GuardedEngine };

export interface GuardOptions {
  engineId: string;
  owner: string;
  engine: ContextEngine;
  /** What it said of itself when it was made. Absent: it is asked at the first scope. */
  info?: Readonly<ContextEngineInfo>;
  /** Made on first need, once per scope. */
  fallback: () => Promise<EngineGuard>;
  /** What the fallback says of itself. Absent: not known until it was needed. */
  fallbackInfo?: () => Readonly<ContextEngineInfo> | undefined;
  /** Undefined for the fallback engine itself: its failures are the host's. */
  quarantine?: Pick<Quarantine, "get" | "add" | "clear">;
  /** Told when a failure sets the engine aside for one turn; the quarantine tells of the rest. */
  onSetAside?: ((record: QuarantineRecord) => void) | undefined;
  policy?: FailurePolicy;
  /** Milliseconds, per method. */
  bounds?: Partial<Bounds>;
  /** Runs code of the engine. Absent: as it is. */
  run?: Guarded["run"];
  /** Who uses the engine. Absent: nobody asks. */
  leases?: Pick<Leases, "take">;
  log: LogPort;
  clock: ClockPort;
}

export function guardEngine(options: GuardOptions): EngineGuard {
  const { engineId, owner, engine, log, clock, leases } = options;
  const guarded: Guarded = {
    ...{ engineId, owner, engine, log, clock, fallback: options.fallback },
    fallbackInfo: options.fallbackInfo ?? (() => undefined),
    run: options.run ?? ((call) => call()),
    quarantine: options.quarantine,
    onSetAside: options.onSetAside,
    policy: options.policy ?? "quarantine",
    bounds: { ...DEFAULT_BOUNDS_MS, ...options.bounds },
    learned: nothingLearned(),
    passing: { operation: undefined },
  };
  const { policy, bounds, run } = guarded;
  let said = options.info;

  function openScope(lent: CallScope): Scope {
    const scope: Scope = {
      ...{ guarded, lent, info: said ?? { id: engineId, name: engineId }, methods: {} },
      ...{ setAside: undefined, unusable: undefined },
      ...{ fallback: undefined, fallbackEngine: undefined, isReleased: false },
    };
    // An engine that is set aside is not even looked at, and stays aside in this scope.
    scope.setAside = failureIn(scope);
    if (scope.setAside !== undefined) return scope;
    const reading = run(() => readEngine(engine, said));
    if (reading.ok) {
      said = reading.info;
      return { ...scope, info: reading.info, methods: reading.methods };
    }
    const { operation, problem } = reading;
    const error = new ContextEngineError("ENGINE_OPERATION_FAILED", problem, {
      engineId,
      operation,
    });
    if (!setAsideFor(scope, operation, error)) scope.unusable = { error };
    return scope;
  }

  return {
    ...{ engineId, owner, policy },
    compactBoundMs: bounds.compact,
    spawnBoundMs: bounds.prepareSubagentSpawn,
    info: () => infoIn(openScope({})),
    enter: (lent) => guardedEngine(openScope(lent), leases?.take() ?? (() => {})),
    extension(name) {
      const value = readQuietly(() => Reflect.get(engine, name) as unknown);
      return typeof value === "function"
        ? (...args) => run(() => value.apply(engine, args) as unknown)
        : undefined;
    },
    dispose: () => run(() => disposeEngine(engine, engineId, bounds.dispose, log)),
  };
}

type EngineReading =
  | { ok: true; info: Readonly<ContextEngineInfo>; methods: MethodsReading["methods"] }
  | { ok: false; operation: string; problem: string };

/** What the engine says and can do, as it is at the start of a scope. */
function readEngine(engine: ContextEngine, said: ContextEngineInfo | undefined): EngineReading {
  const info = readInfo(engine, said);
  if (!info.ok) return { ok: false, operation: "info", problem: info.problems.join(", ") };
  const { methods, problems } = readMethods(engine);
  return problems.length === 0
    ? { ok: true, info: info.info, methods }
    : { ok: false, operation: "contract-validation", problem: problems.join(", ") };
}

/** Not a proxy: frozen engines, and those that are proxies themselves, would defeat it. */
function guardedEngine(scope: Scope, giveBack: () => void): GuardedEngine {
  const { methods, guarded } = scope;
  const has = (method: EngineMethod) => methods[method] !== undefined;
  const call = (method: EngineMethod) => [
    method,
    (params: object) => invoke(scope, method, params),
  ];
  const optional = OPTIONAL_METHODS.filter(has);
  const { dispose } = methods;
  const own = {
    get info() {
      return infoIn(scope);
    },
    get degraded() {
      const record = failureIn(scope);
      return record === undefined ? null : failureOf(record);
    },
    reportFailure: (operation, reason) => void setAsideFor(scope, operation, reason),
    setAside: (failure) => leaveAside(scope, failure),
    readmit: () => readmit(scope),
    release() {
      scope.isReleased = true;
      scope.fallbackEngine?.release();
      giveBack();
    },
    ...(dispose && { dispose: () => dispose.call(guarded.engine) as Promise<void> }),
  } satisfies Partial<GuardedEngine>;
  const calls = Object.fromEntries([...REQUIRED_METHODS, ...optional].map(call)) as object;
  return Object.assign(own, calls) as GuardedEngine;
}
