// Tells an engine about child sessions before they start and after they end.
import type { PrepareSubagentSpawnParams, SubagentEndedParams } from "@clew/plugin-sdk/core";
import { ContextEngineError, isAbort } from "@clew/plugin-sdk/core";
import { within } from "@clew/plugin-sdk/host";
import type { ExecutionHost } from "../execution-host.ts";
import type { LogPort } from "../ports.ts";
import { engineTimeout } from "./bounds.ts";
import { describeError } from "./describe-error.ts";
import { assertHostSupport } from "./host-support.ts";
import type { ResolvedEngine } from "./resolve.ts";

/** "fork": the child starts with the parent's history. */
export type SubagentContextMode = "isolated" | "fork";

/** A child session the engine is ready for. */
export interface PreparedSpawn {
  /** Undoes the preparation, at most once; what it throws, or taking too long, is logged. */
  rollback(): Promise<void>;
}

/**
 * False of a light, isolated child: it needs nothing of the engine (contract §3.11), which is not
 * told of its end either.
 */
export function needsPreparation(request: {
  lightContext?: boolean;
  contextMode: SubagentContextMode;
}): boolean {
  return !(request.lightContext === true && request.contextMode === "isolated");
}

/**
 * Prepares the engine for a child session. Only a fork asks for host capabilities, else engines
 * that need threads could never spawn. Throws when the engine cannot prepare: the spawn must fail.
 */
export async function prepareSubagentSpawn(request: {
  engine: ResolvedEngine;
  host: ExecutionHost;
  params: PrepareSubagentSpawnParams;
  lightContext?: boolean;
  log: LogPort;
  signal?: AbortSignal;
}): Promise<PreparedSpawn> {
  const { engine, params, log, signal } = request;
  const contextMode = params.contextMode ?? "isolated";
  if (
    !needsPreparation({
      ...(request.lightContext !== undefined && { lightContext: request.lightContext }),
      contextMode,
    })
  )
    return once(async () => {}, log);
  if (contextMode === "fork")
    assertHostSupport(engine.guard.info(), "subagent-spawn", request.host);
  const guarded = engine.guard.enter({ signal, sessionKey: params.parentSessionKey });
  if (typeof guarded.prepareSubagentSpawn !== "function") {
    guarded.release();
    return once(async () => {}, log);
  }
  try {
    const preparation = await guarded.prepareSubagentSpawn({ ...params, contextMode });
    const { engineId, spawnBoundMs: boundMs } = engine.guard;
    const onTimeout = () => {
      throw engineTimeout(engineId, "the rollback of prepareSubagentSpawn", boundMs);
    };
    return once(
      () => within<void>({ boundMs, onTimeout }, async () => preparation?.rollback()),
      log,
    );
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    const message = `Context engine subagent preparation failed: ${describeError(error)}`;
    throw new ContextEngineError("ENGINE_OPERATION_FAILED", message, {
      engineId: engine.guard.engineId,
      operation: "prepareSubagentSpawn",
      cause: error,
    });
  } finally {
    guarded.release();
  }
}

/** Best effort: the child is over whatever the engine says. */
export async function notifySubagentEnded(request: {
  engine: ResolvedEngine;
  params: SubagentEndedParams;
  log: LogPort;
}): Promise<void> {
  const { engine, params, log } = request;
  const guarded = engine.guard.enter({ sessionKey: params.childSessionKey });
  try {
    await guarded.onSubagentEnded?.(params);
  } catch (error) {
    log.warn(`context-engine onSubagentEnded failed (best-effort): ${describeError(error)}`);
  } finally {
    guarded.release();
  }
}

function once(rollback: () => Promise<void>, log: LogPort): PreparedSpawn {
  let done = false;
  return {
    async rollback() {
      if (done) return;
      done = true;
      try {
        await rollback();
      } catch (error) {
        log.warn(`context engine subagent rollback failed: ${describeError(error)}`);
      }
    },
  };
}
