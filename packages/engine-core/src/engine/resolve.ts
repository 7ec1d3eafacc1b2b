// Which engine runs for an agent, and why it may not be the configured one.
import { ContextEngineError, type EngineFactoryContext, isAbort } from "@clew/plugin-sdk/core";
import { abortable, type PluginsConfig } from "@clew/plugin-sdk/host";
import type { EngineFailure } from "../report/engine-call.ts";
import type { EngineGuard } from "./call-scope.ts";
import { codeOf, failureOf, planRecord, type QuarantineFailure } from "./quarantine.ts";
import { FALLBACK_ENGINE_ID } from "./registration.ts";
import type { EngineRegistry } from "./registry.ts";

/** Which engine the configuration asks for. */
export interface EngineSelection {
  /** The slot's value; null when it is unset, blank or "none". */
  configured: string | null;
  /** The engine id to use, before asking whether it works. */
  engineId: string;
  /** "default": nobody chose it. */
  source: "configured" | "default";
  /** Why a configured engine is not used although nothing failed: its plugin is switched off. */
  switchedOff: string | null;
}

/**
 * What the configuration asks for (contract §2.2). `ownerPluginOf` names the plugin
 * that registered an engine.
 */
export function planEngineSelection(
  plugins: PluginsConfig | undefined,
  ownerPluginOf: (engineId: string) => string | undefined,
): EngineSelection {
  const slot = plugins?.slots?.contextEngine?.trim() ?? "";
  if (slot === "" || slot.toLowerCase() === "none")
    return { configured: null, engineId: FALLBACK_ENGINE_ID, source: "default", switchedOff: null };
  if (slot === FALLBACK_ENGINE_ID)
    return { configured: slot, engineId: slot, source: "configured", switchedOff: null };
  const pluginId = ownerPluginOf(slot) ?? slot;
  const switchedOff =
    plugins?.enabled === false
      ? "plugins are disabled"
      : plugins?.deny?.includes(pluginId)
        ? `plugin "${pluginId}" is denied`
        : plugins?.entries?.[pluginId]?.enabled === false
          ? `plugin "${pluginId}" is disabled`
          : null;
  const engineId = switchedOff === null ? slot : FALLBACK_ENGINE_ID;
  return {
    configured: slot,
    engineId,
    source: switchedOff === null ? "configured" : "default",
    switchedOff,
  };
}

/** The engine for one agent, ready to be called. */
export interface ResolvedEngine extends EngineSelection {
  /** The only way to call it. */
  guard: EngineGuard;
  /**
   * Why another engine than the configured one was taken; null when it was taken, or
   * deliberately switched off.
   */
  degraded: EngineFailure | null;
  /**
   * Under "strict": why nobody may answer instead. `runTurn` stores the message and fails with it,
   * `compactSession` and `previewRequest` throw it. Absent: somebody may.
   */
  refused?: ContextEngineError;
}

/**
 * The engine for one agent (contract §2.3). A failure of the chosen engine quarantines it and gives
 * the fallback; with the policy "strict" the fallback is given as well, and `refused` says that it
 * must not answer. Failures of the fallback and aborts of the caller are thrown. The engine is to
 * be entered soon and released when the turn is over.
 * @example
 * ```ts
 * import { createEngineRegistry, resolveContextEngine } from "@clew/engine-core";
 * import { createMemoryEngine } from "@clew/plugin-sdk/testing";
 *
 * const log = { info() {}, warn() {}, error() {} };
 * const clock = { now: () => Date.now(), monotonic: () => performance.now() };
 * const registry = createEngineRegistry({ fallback: () => createMemoryEngine(), log, clock });
 *
 * const config = { plugins: { slots: { contextEngine: "notes" } } };
 * const { guard, degraded } = await resolveContextEngine({ registry, config });
 * console.log(guard.info().name, degraded?.reason);
 * ```
 *
 * ```text
 * Memory engine not registered
 * ```
 */
export async function resolveContextEngine(request: {
  registry: EngineRegistry;
  config?: { plugins?: PluginsConfig | undefined };
  context?: EngineFactoryContext;
  /**
   * Stable name of the session, so that an engine that was set aside for it alone is not taken.
   * Absent: only what is set aside everywhere counts.
   */
  sessionKey?: string;
  /** Ends the wait for a factory; its reason is thrown. Absent: the bound ends it. */
  signal?: AbortSignal;
  strict?: (engineId: string) => boolean;
  /**
   * The plugin behind an engine that is not registered now, so that a plugin that is switched off
   * is not taken for a missing one.
   */
  ownerPluginOf?: (engineId: string) => string | undefined;
  /**
   * Why an engine is not registered, a clause for people: what is wrong with its plugin. Absent or
   * undefined: "not registered".
   */
  whyMissing?: (engineId: string) => string | undefined;
}): Promise<ResolvedEngine> {
  const { registry, context = {}, signal, sessionKey } = request;
  const selection = planEngineSelection(
    request.config?.plugins,
    (engineId) => pluginOf(registry.get(engineId)?.owner) ?? request.ownerPluginOf?.(engineId),
  );
  const { engineId } = selection;
  const instance = (id: string) => abortable(signal, () => registry.instance(id, context));
  const useFallback = async (degraded: ResolvedEngine["degraded"]): Promise<ResolvedEngine> => ({
    ...selection,
    guard: await instance(FALLBACK_ENGINE_ID),
    degraded,
  });
  if (engineId === FALLBACK_ENGINE_ID) return useFallback(null);

  for (;;) {
    const quarantined = registry.quarantine.get(engineId, sessionKey);
    if (quarantined !== undefined) return useFallback(failureOf(quarantined));
    const registration = registry.get(engineId);
    if (registration?.lifecycle === "readOnlyDiscovery") {
      registry.log.warn(`context engine "${engineId}" is not used: ${DISCOVERY_ONLY}`);
      return useFallback({
        operation: "resolve",
        code: "ENGINE_NOT_FOUND",
        reason: DISCOVERY_ONLY,
      });
    }
    try {
      return { ...selection, guard: await instance(engineId), degraded: null };
    } catch (error) {
      if (signal?.aborted && isAbort(error, signal)) throw error;
      // Registered again while it was being made: what failed is not there any more.
      if (registry.get(engineId) !== registration) continue;
      const failure = planFailure(engineId, error, {
        owner: registration?.owner,
        whyMissing: request.whyMissing?.(engineId),
      });
      if (request.strict?.(engineId)) {
        const record = planRecord(failure, FOR_NOW, 0);
        const refused = ContextEngineError.is(error)
          ? error
          : new ContextEngineError(record.code ?? "ENGINE_FACTORY_FAILED", record.reason, {
              engineId,
              cause: error,
            });
        return { ...(await useFallback(failureOf(record))), refused };
      }
      // An abort is nobody's failure: the next turn asks again.
      if (isAbort(error)) return useFallback(failureOf(planRecord(failure, FOR_NOW, 0)));
      return useFallback(failureOf(registry.quarantine.add(failure)));
    }
  }
}

const DISCOVERY_ONLY = "registered for discovery only: its plugin is not fully loaded";
const FOR_NOW = { kind: "turn" } as const;

function planFailure(
  engineId: string,
  error: unknown,
  { owner, whyMissing }: { owner: string | undefined; whyMissing: string | undefined },
): QuarantineFailure {
  const code = codeOf(error);
  if (owner === undefined)
    return { engineId, code, operation: "resolve", error: whyMissing ?? "not registered" };
  // The registry's sentence names the engine already; the quarantine's line does so too.
  const cause = ContextEngineError.is(error) ? error.cause : undefined;
  return {
    ...{ engineId, code, owner },
    operation: code === "ENGINE_CONTRACT_INVALID" ? "contract-validation" : "factory",
    error: cause ?? error,
  };
}

/** "plugin:<id>" → "<id>". */
export function pluginOf(owner: string | undefined): string | undefined {
  return owner?.startsWith("plugin:") ? owner.slice("plugin:".length) : undefined;
}
