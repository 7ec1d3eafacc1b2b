// Who answers in one scope of engine calls, and why it may not be the engine.
import type { ContextEngine, ContextEngineInfo } from "@clew/plugin-sdk/core";
import type { ClockPort, LogPort } from "../ports.ts";
import type { EngineFailure } from "../report/engine-call.ts";
import type { Bounds } from "./bounds.ts";
import type { CallScope, EngineGuard, FailurePolicy, GuardedEngine } from "./call-scope.ts";
import type { Learned } from "./compat.ts";
import { printable } from "./describe-error.ts";
import type { MethodsReading } from "./methods.ts";
import { planRecord, type Quarantine, type QuarantineRecord, tellSetAside } from "./quarantine.ts";
import { isOfDisk, isTransient } from "./transient.ts";

/** One engine with what is settled for all its calls. */
export interface Guarded {
  readonly engineId: string;
  readonly owner: string;
  readonly engine: ContextEngine;
  readonly policy: FailurePolicy;
  readonly bounds: Bounds;
  readonly learned: Learned;
  readonly log: LogPort;
  readonly clock: ClockPort;
  /** Undefined for the fallback engine itself: its failures are the host's. */
  readonly quarantine: Pick<Quarantine, "get" | "add" | "clear"> | undefined;
  /** What failed last for a reason that passes, until it works again. */
  readonly passing: { operation: string | undefined };
  /** Told when the engine is set aside for one turn only; the quarantine tells of the rest. */
  readonly onSetAside: ((record: QuarantineRecord) => void) | undefined;
  /** Runs code of the engine, so that the host knows whose it is. */
  readonly run: <Result>(call: () => Result) => Result;
  readonly fallback: () => Promise<EngineGuard>;
  /** What the fallback says of itself; undefined until it was made. */
  readonly fallbackInfo: () => Readonly<ContextEngineInfo> | undefined;
}

/** What one scope was lent, and what its calls leave behind. */
export interface Scope {
  readonly guarded: Guarded;
  readonly lent: CallScope;
  readonly info: Readonly<ContextEngineInfo>;
  readonly methods: MethodsReading["methods"];
  /** Why the engine is not asked in this scope any more. */
  setAside: QuarantineRecord | undefined;
  /** What every call throws: the engine cannot be called at all, and the policy is "strict". */
  unusable: { error: unknown } | undefined;
  fallback: Promise<GuardedEngine> | undefined;
  /** The same once it is there. */
  fallbackEngine: GuardedEngine | undefined;
  isReleased: boolean;
}

/** Why the engine is not asked now: for this scope, its session, or for everybody. */
export const failureIn = ({ setAside, guarded, lent }: Scope): QuarantineRecord | undefined =>
  setAside ?? guarded.quarantine?.get(guarded.engineId, lent.sessionKey);

/** The host's own doing: nobody is told. */
export function leaveAside(scope: Scope, failure: EngineFailure): void {
  const { engineId, owner, clock } = scope.guarded;
  const kept = { kind: "turn" } as const;
  scope.setAside = { engineId, owner, ...failure, scope: kept, failedAt: clock.now() };
}

/** Of this session only: an engine that is set aside everywhere stays so. */
export function readmit({ guarded, lent: { sessionKey } }: Scope): void {
  if (sessionKey !== undefined) guarded.quarantine?.clear(guarded.engineId, sessionKey);
}

/**
 * Sets the engine aside as its policy says. False: nobody else may answer, the failure must be
 * thrown.
 */
export function setAsideFor(scope: Scope, operation: string, error: unknown): boolean {
  const { guarded, lent } = scope;
  const { engineId, owner, quarantine, policy, clock, log } = guarded;
  if (quarantine === undefined || policy === "strict") return false;
  if (scope.setAside !== undefined) return true;
  const failure = { engineId, owner, operation, error, sessionKey: lent.sessionKey };
  // What passes, such as another program's lock or a full disk, costs the turns until then.
  const passes = policy === "quarantine" && (isTransient(error) || isOfDisk(error));
  if (policy === "quarantine" && !passes) scope.setAside = quarantine.add(failure);
  else {
    scope.setAside = planRecord(failure, { kind: "turn" }, clock.now());
    if (passes) {
      guarded.passing.operation = operation;
      log.warn(
        `[context-engine] Context engine "${printable(engineId)}" failed during ${operation}: ${scope.setAside.reason}; it is asked again in the next turn.`,
      );
    }
    tellSetAside(guarded.onSetAside, scope.setAside, log);
  }
  tellSetAside(lent.onSetAside, scope.setAside, log);
  return true;
}

/** Says so when what failed before works again. */
export function noteAnswer({ guarded }: Scope, operation: string): void {
  const { engineId, passing, log } = guarded;
  if (passing.operation !== operation) return;
  passing.operation = undefined;
  log.info(
    `[context-engine] Context engine "${printable(engineId)}" answers again: ${operation} works.`,
  );
}

/** The fallback in this scope: made on first need, once, with all that the scope was lent. */
export function fallbackOf(scope: Scope): Promise<GuardedEngine> {
  const { signal, sessionKey, compaction } = scope.lent;
  scope.fallback ??= scope.guarded.fallback().then((guard) => {
    const engine = guard.enter({ signal, sessionKey, compaction });
    scope.fallbackEngine = engine;
    if (scope.isReleased) engine.release();
    return engine;
  });
  return scope.fallback;
}

/** Who answers says what counts. */
export const infoIn = (scope: Scope): Readonly<ContextEngineInfo> =>
  failureIn(scope) === undefined
    ? scope.info
    : (scope.fallbackEngine?.info ?? scope.guarded.fallbackInfo() ?? scope.info);
