// How long each engine method may take, and the race that enforces it.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { EngineMethod } from "@clew/plugin-sdk/host";

const SECOND = 1000;

/**
 * Milliseconds, per method (contract §2.4 "Bounds"). `compact` follows
 * `agents.defaults.compaction.timeoutSeconds`.
 */
export const DEFAULT_BOUNDS_MS: Readonly<Record<EngineMethod | "dispose", number>> = {
  bootstrap: 120 * SECOND,
  maintain: 30 * SECOND,
  ingest: 30 * SECOND,
  ingestBatch: 30 * SECOND,
  afterTurn: 30 * SECOND,
  commitTurn: 30 * SECOND,
  assemble: 30 * SECOND,
  compact: 180 * SECOND,
  prepareSubagentSpawn: 30 * SECOND,
  onSubagentEnded: 30 * SECOND,
  dispose: 10 * SECOND,
};

export interface BoundedCall<T> {
  run: () => T | Promise<T>;
  boundMs: number;
  signal?: AbortSignal | undefined;
  /** The error to throw when the bound is reached. */
  timeoutError: () => Error;
  /**
   * Told of a result or error that came after the bound or an abort; it changes nothing any more.
   */
  onLate?: (outcome: { ok: boolean; error?: unknown }) => void;
  /** Receives a function that starts the bound anew: progress was made. */
  onStart?: (restart: () => void) => void;
}

/**
 * Awaits `run`, but no longer than the bound and not past an abort, whose
 * reason is thrown as it is.
 */
export async function callWithin<T>({
  run,
  boundMs,
  signal,
  timeoutError,
  onLate,
  onStart,
}: BoundedCall<T>): Promise<T> {
  signal?.throwIfAborted();
  let over = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort: (() => void) | undefined;
  const interrupted = new Promise<never>((_, reject) => {
    const arm = () => {
      clearTimeout(timer);
      timer = setTimeout(() => reject(timeoutError()), boundMs);
    };
    arm();
    onStart?.(() => over || arm());
    onAbort = () => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
  const work = (async () => run())();
  work.then(
    () => over && onLate?.({ ok: true }),
    (error: unknown) => over && onLate?.({ ok: false, error }),
  );
  try {
    return await Promise.race([work, interrupted]);
  } finally {
    over = true;
    clearTimeout(timer);
    if (onAbort) signal?.removeEventListener("abort", onAbort);
  }
}

export function engineTimeout(
  engineId: string,
  operation: string,
  boundMs: number,
): ContextEngineError {
  const seconds = boundMs / SECOND;
  return new ContextEngineError(
    "ENGINE_TIMEOUT",
    `Engine "${engineId}" did not finish ${operation} within ${seconds} s.`,
    {
      engineId,
      operation,
    },
  );
}
