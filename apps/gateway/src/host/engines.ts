// Which engine answers an agent, under the operator's settings for engines of plugins.
import { join } from "node:path";
import {
  type CallAs,
  createEngineRegistry,
  type EngineFailure,
  type EngineRegistry,
  pluginOf,
  type QuarantineRecord,
  type ResolvedEngine,
  resolveContextEngine,
} from "@clew/engine-core";
import { type ContextEngineFactory, isAbort } from "@clew/plugin-sdk/core";
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { systemClock } from "../clock.ts";
import { agentSettings } from "../config/agent.ts";
import {
  type ChosenBy,
  type EngineChoice,
  planEngineChoice,
} from "../plugins/engines/engine-choice.ts";
import { engineBounds, failurePolicyOf } from "../plugins/engines/engine-settings.ts";
import type { PluginHost } from "../plugins/host.ts";
import { withErrorPlaces } from "../plugins/load/error-place.ts";
import { ofPlugin } from "../plugins/load/record.ts";
import type { HostOptions } from "./host.ts";

export interface ChosenEngine extends ResolvedEngine {
  chosenBy: ChosenBy;
}

export interface Engines {
  readonly registry: EngineRegistry;
  /** The `plugins` section in force; a reload of plugins changes it. */
  settings(): PluginsConfig;
  /**
   * Of the agent, and, when one is named, of the session: it may be set aside for it alone. A
   * cancelled wait gives the fallback, so that the turn itself can say that it was cancelled.
   */
  resolve(
    agentId: string,
    wait?: {
      sessionKey?: string;
      signal?: AbortSignal | undefined;
      /** Registered id, instead of the one of the settings. */
      slot?: string | undefined;
    },
  ): Promise<ChosenEngine>;
  /** Which failures of engines each session was told of. */
  readonly told: ToldFailures;
}

/** A session is told once of each failure because of which another engine answers it. */
export interface ToldFailures {
  /** What is to be told now; null: nothing failed, or it was told. Counts as told from now on. */
  next(sessionKey: string, engine: ResolvedEngine): EngineFailure | null;
  /** The turn itself told why the engine was set aside in it. */
  note(sessionKey: string, engine: ResolvedEngine): void;
}

function createToldFailures(registry: EngineRegistry): ToldFailures {
  const told = new Map<string, QuarantineRecord | string>();
  const causeOf = (sessionKey: string, { engineId, degraded }: ResolvedEngine) =>
    registry.quarantine.get(engineId, sessionKey) ?? degraded?.reason;
  const note: ToldFailures["note"] = (sessionKey, engine) => {
    const cause = causeOf(sessionKey, engine);
    if (cause !== undefined) told.set(sessionKey, cause);
  };
  return {
    note,
    next(sessionKey, engine) {
      const { degraded, refused } = engine;
      // One that is refused ends the turn, which says why.
      if (degraded === null || refused !== undefined) {
        told.delete(sessionKey);
        return null;
      }
      if (told.get(sessionKey) === causeOf(sessionKey, engine)) return null;
      note(sessionKey, engine);
      return degraded;
    },
  };
}

export interface EnginesOptions extends HostOptions {
  /** Makes the engine that answers when another one cannot. */
  fallback: ContextEngineFactory;
}

/** The same settings, with this engine in the slot. */
const withEngine = (plugins: PluginsConfig, { engineId, chosenBy }: EngineChoice): PluginsConfig =>
  engineId === undefined || chosenBy === "slot"
    ? plugins
    : { ...plugins, slots: { ...plugins.slots, contextEngine: engineId } };

/** Undefined: its plugin is not there, or does not bring it. */
function whyMissing(engineId: string, plugins: PluginHost): string | undefined {
  const owner = plugins.ownerOf(engineId) ?? engineId;
  const record = plugins.records().find(({ id }) => id === owner);
  if (record === undefined || record.reason === null) return undefined;
  if (record.safeMode !== null) return ofPlugin(record);
  return record.status === "error"
    ? `not registered: ${record.reason.replace(/\.$/, "")}`
    : undefined;
}

export function createEngines(options: EnginesOptions): Engines {
  const { environment, loaded, log, plugins, fallback } = options;
  const { config, raw } = loaded;
  const compactMs = config.agents.defaults.compaction.timeoutSeconds * 1000;
  const settings = () => plugins?.settings() ?? config.plugins;
  const failurePolicy = (engineId: string) =>
    failurePolicyOf(settings(), plugins?.ownerOf(engineId));
  const callAs: CallAs = (owner, call) => {
    const pluginId = pluginOf(owner);
    return plugins === undefined || pluginId === undefined
      ? call()
      : plugins.runAs(pluginId, () => withErrorPlaces(call));
  };
  const registry = createEngineRegistry({
    ...{ fallback, log, failurePolicy, callAs },
    ...(options.onSetAside !== undefined && { onSetAside: options.onSetAside }),
    clock: systemClock,
    bounds: (engineId) => engineBounds(settings(), plugins?.ownerOf(engineId), compactMs),
  });
  return {
    ...{ registry, settings, told: createToldFailures(registry) },
    async resolve(agentId, { sessionKey, signal, slot } = {}) {
      const ofEditor = sessionKey === undefined ? undefined : options.editorOf?.(sessionKey);
      const ofSession =
        sessionKey === undefined ? undefined : (options.sessionSettings?.(sessionKey) ?? ofEditor);
      const ofAgent = agentSettings(config, environment.home, agentId);
      const choice = planEngineChoice({
        ...{ run: slot, session: ofSession?.engine, agent: ofAgent.engine, plugins: settings() },
      });
      const context = {
        config: raw,
        agentDir: join(environment.home, "agents", agentId),
        workspaceDir: ofEditor?.workspace ?? ofAgent.workspace,
        ...(options.engineRows !== undefined && { sharedRows: options.engineRows }),
      };
      const resolved = await resolveContextEngine({
        ...{ registry, context },
        ...(sessionKey !== undefined && { sessionKey }),
        ...(signal !== undefined && { signal }),
        config: { plugins: withEngine(settings(), choice) },
        ...(plugins !== undefined && {
          ownerPluginOf: plugins.ownerOf,
          whyMissing: (engineId) => whyMissing(engineId, plugins),
        }),
        strict: (engineId) => failurePolicy(engineId) === "strict",
      }).catch((error: unknown) => {
        if (isAbort(error, signal)) return resolveContextEngine({ registry, context });
        throw error;
      });
      return { ...resolved, chosenBy: choice.chosenBy };
    },
  };
}
