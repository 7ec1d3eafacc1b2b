// How long each engine method may take, and the race that enforces it.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { EngineMethod } from "@clew/plugin-sdk/host";

const SECOND = 1000;

/** Milliseconds, per method and for the factory that makes an engine. */
export type Bounds = Readonly<Record<EngineMethod | "dispose" | "factory", number>>;

/**
 * Contract §2.4 "Bounds", and law 4 for the factory. `compact` follows
 * `agents.defaults.compaction.timeoutSeconds`.
 */
export const DEFAULT_BOUNDS_MS: Bounds = {
  factory: 30 * SECOND,
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

export function engineTimeout(
  engineId: string,
  operation: string,
  boundMs: number,
): ContextEngineError {
  const seconds = boundMs / SECOND;
  return new ContextEngineError(
    "ENGINE_TIMEOUT",
    `Engine "${engineId}" did not finish ${operation} within ${seconds} s; if it needs longer, raise that bound (in Clew plugins.entries.<plugin>.timeoutSeconds).`,
    {
      engineId,
      operation,
    },
  );
}
