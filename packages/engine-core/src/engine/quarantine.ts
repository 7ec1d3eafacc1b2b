// Which engines are set aside, for whom, since when and why.
import { ContextEngineError, ERROR_CODES, type ErrorCode } from "@clew/plugin-sdk/core";
import type { ClockPort, LogPort } from "../ports.ts";
import type { EngineFailure } from "../report/engine-call.ts";
import { describeError, printable, readQuietly } from "./describe-error.ts";

export { describeError };

/**
 * For whom an engine is set aside: one session, as what failed may lie in its data; everywhere; or
 * only the turn that is running (policy "retry-next-turn"; never in the quarantine's list).
 */
export type SetAsideScope =
  | { kind: "session"; sessionKey: string }
  | { kind: "everywhere" }
  | { kind: "turn" };

/** Why an engine is set aside (contract §2.7). */
export interface QuarantineRecord extends EngineFailure {
  /** Registered id, which need not be the engine's own. */
  engineId: string;
  /** Who registered it. Absent: nobody did. */
  owner?: string;
  /** For whom. */
  scope: SetAsideScope;
  /** ms since the epoch. */
  failedAt: number;
}

/** One failure that sets an engine aside. */
export interface QuarantineFailure {
  /** Registered id. */
  engineId: string;
  /** Who registered it. Absent: nobody did. */
  owner?: string;
  /** Engine method, or "resolve", "factory", "contract-validation", "info". */
  operation: string;
  /** Whose data was worked on. Absent: nobody's, the engine is set aside everywhere. */
  sessionKey?: string | undefined;
  /** What was thrown. */
  error: unknown;
  /** Default: the error's own, else ENGINE_OPERATION_FAILED. */
  code?: ErrorCode;
}

/** Which engines are set aside in this process; the first failure of each counts. */
export interface Quarantine {
  /**
   * Why it is set aside everywhere or, when a session is named, for that session; undefined = it is
   * not.
   */
  get(engineId: string, sessionKey?: string): QuarantineRecord | undefined;
  /**
   * Sets the engine aside and logs it once; an engine already aside keeps its first record. What
   * fails in three sessions is set aside everywhere.
   */
  add(failure: QuarantineFailure): QuarantineRecord;
  /** Gives the engine another chance: in one session when it is named, else everywhere. */
  clear(engineId: string, sessionKey?: string): void;
  /** In the order they failed. */
  list(): readonly QuarantineRecord[];
}

/** So many sessions with a failure each are no longer a matter of one session's data. */
const SESSIONS_UNTIL_EVERYWHERE = 3;
/** These say nothing of a session's data. */
const NEVER_OF_A_SESSION: ReadonlySet<string> = new Set([
  "resolve",
  "factory",
  "contract-validation",
  "info",
]);

/** Pure: for whom a failure sets its engine aside, given the records there are of that engine. */
export function planScope(
  { operation, sessionKey }: Pick<QuarantineFailure, "operation" | "sessionKey">,
  records: readonly QuarantineRecord[],
): SetAsideScope {
  const everywhere: SetAsideScope = { kind: "everywhere" };
  if (sessionKey === undefined || NEVER_OF_A_SESSION.has(operation)) return everywhere;
  const others = records.filter(
    ({ scope }) => scope.kind === "session" && scope.sessionKey !== sessionKey,
  );
  return others.length + 1 >= SESSIONS_UNTIL_EVERYWHERE
    ? everywhere
    : { kind: "session", sessionKey };
}

export function createQuarantine({
  log,
  clock,
  fallbackId,
  onSetAside,
}: {
  log: LogPort;
  clock: ClockPort;
  fallbackId: string;
  onSetAside?: ((record: QuarantineRecord) => void) | undefined;
}): Quarantine {
  let records: readonly QuarantineRecord[] = [];
  const of = (engineId: string) => records.filter((record) => record.engineId === engineId);
  const find = (engineId: string, sessionKey: string | undefined) =>
    records.find(
      (record) =>
        record.engineId === engineId &&
        (record.scope.kind === "everywhere" ||
          (record.scope.kind === "session" && record.scope.sessionKey === sessionKey)),
    );
  const keep = (keeps: (record: QuarantineRecord) => boolean) => {
    records = records.filter(keeps);
  };
  return {
    get: find,
    list: () => records,
    clear: (engineId, sessionKey) =>
      keep(
        ({ engineId: id, scope }) =>
          id !== engineId ||
          (sessionKey !== undefined &&
            !(scope.kind === "session" && scope.sessionKey === sessionKey)),
      ),
    add(failure) {
      const { engineId, owner } = failure;
      const scope = planScope(failure, of(engineId));
      const existing = find(engineId, scope.kind === "session" ? scope.sessionKey : undefined);
      if (existing !== undefined) return existing;
      const record = planRecord(failure, scope, clock.now());
      if (scope.kind === "everywhere") keep(({ engineId: id }) => id !== engineId);
      records = [...records, record];
      const { operation, reason, code } = record;
      const extent =
        scope.kind === "session"
          ? `setting it aside for session ${printable(scope.sessionKey)}`
          : "quarantining it for this process";
      log.error(
        `[context-engine] Context engine "${printable(engineId)}" owner=${printable(owner ?? "unknown")} failed during ${operation}: ` +
          `${reason}; ${extent} and falling back to default engine "${fallbackId}".`,
        { engineId, operation, code },
      );
      tellSetAside(onSetAside, record, log);
      return record;
    },
  };
}

/** Pure: what is remembered of a failure. */
export function planRecord(
  { engineId, owner, operation, error, code = codeOf(error) }: QuarantineFailure,
  scope: SetAsideScope,
  failedAt: number,
): QuarantineRecord {
  return {
    engineId,
    ...(owner !== undefined && { owner }),
    operation,
    reason: describeError(error),
    code,
    scope,
    failedAt,
  };
}

/** Tells the host; what its listener throws changes nothing. */
export function tellSetAside(
  listener: ((record: QuarantineRecord) => void) | undefined,
  record: QuarantineRecord,
  log: LogPort,
): void {
  try {
    listener?.(record);
  } catch (error) {
    log.warn(`a listener to engines set aside failed: ${describeError(error)}`);
  }
}

/** The code of a failure of an engine. */
export function codeOf(error: unknown): ErrorCode {
  const code = readQuietly(() => (ContextEngineError.is(error) ? error.code : undefined));
  return ERROR_CODES.find((known) => known === code) ?? "ENGINE_OPERATION_FAILED";
}

/** What of a record says why another engine answers. */
export const failureOf = ({ operation, reason, code }: EngineFailure): EngineFailure => ({
  operation,
  reason,
  ...(code !== undefined && { code }),
});
