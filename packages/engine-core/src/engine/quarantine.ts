// Which engines are set aside, since when and why.
import { ContextEngineError, type ErrorCode } from "@clew/plugin-sdk/core";
import type { ClockPort, LogPort } from "../ports.ts";
import type { EngineFailure } from "../report.ts";

/** Why an engine is set aside (contract §2.7). */
export interface QuarantineRecord extends EngineFailure {
  /** Registered id, which need not be the engine's own. */
  engineId: string;
  /** Who registered it. Absent: nobody did. */
  owner?: string;
  /** ms since the epoch. */
  failedAt: number;
}

/** Which engines are set aside in this process; the first failure of each counts. */
export interface Quarantine {
  /** Why it is set aside; undefined = it is not. */
  get(engineId: string): QuarantineRecord | undefined;
  /** Sets the engine aside and logs it once; an engine already aside keeps its first record. */
  add(failure: {
    engineId: string;
    owner?: string;
    operation: string;
    error: unknown;
    /** Default: the error's own, else ENGINE_OPERATION_FAILED. */
    code?: ErrorCode;
  }): QuarantineRecord;
  /** Gives the engine another chance. */
  clear(engineId: string): void;
  /** In the order they failed. */
  list(): readonly QuarantineRecord[];
}

export function createQuarantine({
  log,
  clock,
  fallbackId,
}: {
  log: LogPort;
  clock: ClockPort;
  fallbackId: string;
}): Quarantine {
  const records = new Map<string, QuarantineRecord>();
  return {
    get: (engineId) => records.get(engineId),
    clear: (engineId) => void records.delete(engineId),
    list: () => [...records.values()],
    add({ engineId, owner, operation, error, code = codeOf(error) }) {
      const existing = records.get(engineId);
      if (existing !== undefined) return existing;
      const record = {
        engineId,
        ...(owner !== undefined && { owner }),
        operation,
        reason: describeError(error),
        code,
        failedAt: clock.now(),
      };
      records.set(engineId, record);
      log.error(
        `[context-engine] Context engine "${printable(engineId)}" owner=${printable(owner ?? "unknown")} failed during ${operation}: ` +
          `${record.reason}; quarantining it for this process and falling back to default engine "${fallbackId}".`,
        { engineId, operation, code },
      );
      return record;
    },
  };
}

/** The code of a failure of an engine. */
export const codeOf = (error: unknown): ErrorCode =>
  ContextEngineError.is(error) ? error.code : "ENGINE_OPERATION_FAILED";

/** What of a record says why another engine answers. */
export const failureOf = ({ operation, reason, code }: EngineFailure): EngineFailure => ({
  operation,
  reason,
  ...(code !== undefined && { code }),
});

/** The error's message on one printable line. */
export function describeError(error: unknown): string {
  const message =
    error instanceof Error
      ? error.message
      : typeof error === "string"
        ? error
        : (JSON.stringify(error) ?? String(error));
  return printable(message) || "no reason given";
}

/**
 * One line without control characters or terminal escapes: messages of plugins end
 * up in logs and terminals.
 */
function printable(text: string): string {
  return text
    .replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "")
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ")
    .trim();
}
