// Finds, loads and reloads the plugins of one gateway.
import type { EngineRegistry, LogPort } from "@clew/engine-core";
import type { LlmCompleteParams, LlmCompleteResult, RegistrationMode } from "@clew/plugin-sdk/core";
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { frozenCopy } from "./frozen-copy.ts";
import { loadGeneration } from "./generation.ts";
import type { LoadContext } from "./load/load-plugin.ts";
import type { PluginRecord } from "./load/record.ts";
import { asPlugin, type RunAs } from "./load/running.ts";
import { currentPluginScope, type PluginScope } from "./load/scope.ts";
import { provideStateDir } from "./load/state-dir.ts";
import { answerCommand, type OwnedCommand } from "./offer/chat-commands.ts";
import { createHookRunner, type HookRunner } from "./offer/hook-runs.ts";
import { registerEngines, unregisterEngines } from "./offer/register-engines.ts";
import { runSessionAction } from "./offer/session-actions.ts";
import type { OwnedTool } from "./offer/tools.ts";
import { createRunGate, type RunGate } from "./run-gate.ts";
import { createStrays, type StrayRecord, type Strays } from "./strays.ts";

export interface PluginSettings {
  /** The `plugins` section. */
  plugins: PluginsConfig;
  /** The whole file, as plugins see it. */
  raw: unknown;
}

export interface PluginHostOptions extends PluginSettings {
  home: string;
  /** Where plugins keep what they store, and where sessions are; default: `home`. */
  stateDir?: string | undefined;
  log: LogPort;
  /** Folders of plugins that come with Clew. */
  bundled?: readonly string[];
  /** Names plugins' tools cannot take. */
  reservedTools?: readonly string[];
  /** Default "full"; anything else is for looking at plugins, and remembers nothing on disk. */
  mode?: RegistrationMode;
}

/** What plugins reach of the host once it is composed. */
export interface PluginConnection {
  registry: EngineRegistry;
  /** A model call of a plugin; `scope` is undefined outside any session. */
  complete(request: {
    pluginId: string;
    scope: PluginScope | undefined;
    params: LlmCompleteParams;
  }): Promise<LlmCompleteResult>;
}

export interface PluginHost {
  /** The `plugins` section in force: of the start, or of the last reload. */
  settings(): PluginsConfig;
  records(): readonly PluginRecord[];
  /** Registers the loaded plugins' engines; to be called once. */
  connect(connection: PluginConnection): void;
  /**
   * The plugin an engine belongs to, also while it is off; undefined when
   * nobody ever registered it.
   */
  ownerOf(engineId: string): string | undefined;
  tools(): readonly OwnedTool[];
  readonly hooks: HookRunner;
  /** Runs code of a plugin, so that what it leaves behind is known to be its. */
  readonly runAs: RunAs;
  /** Runs happen inside it; a reload waits for them. */
  readonly gate: RunGate;
  /** The answer to a chat line that is a command of a plugin; undefined when it is none. */
  command(text: string, scope: PluginScope): Promise<string | undefined>;
  commands(): readonly OwnedCommand[];
  /** Throws PLUGIN_INVALID when there is no such action or the payload does not fit its schema. */
  sessionAction(
    pluginId: string,
    actionId: string,
    request: { payload: unknown; scope: PluginScope },
  ): Promise<unknown>;
  /** Loads everything again under new settings, between runs. */
  reload(settings: PluginSettings): Promise<readonly PluginRecord[]>;
  /** Tells plugins that the gateway stops. Engines are the registry's to dispose. */
  close(reason?: string): Promise<void>;
}

/**
 * Loads all plugins that are on. A plugin that cannot be loaded is a record with
 * the reason, never a throw.
 */
export async function createPluginHost(options: PluginHostOptions): Promise<PluginHost> {
  const { home, log, bundled = [], reservedTools = [], mode = "full", stateDir = home } = options;
  provideStateDir(stateDir);
  const gate = createRunGate();
  let settings = withSnapshot(options);
  let connection: PluginConnection | undefined;
  const strays = createStrays(log);
  const runAs: RunAs = (pluginId, work) => asPlugin({ pluginId, strays }, work);
  const config = () => settings.snapshot;
  const complete = completeThrough(() => connection);
  const load = (generation: number) => {
    const context = { home: stateDir, mode, generation, log, config, complete, strays };
    return loadGeneration({ home, plugins: settings.plugins, bundled, reservedTools, context });
  };
  let now = await load(0);
  const register = ({ registry }: PluginConnection) =>
    registerEngines({ registry, engines: now.engines, mode, home, log });
  const hooks = createHookRunner({ hooks: () => now.hooks, log, runAs });
  const reload = async (given: PluginSettings) => {
    await hooks.emit("gateway_stop", { reason: "plugin replacement" });
    const before = now;
    settings = withSnapshot(given);
    now = await load(before.number + 1);
    if (connection !== undefined) {
      await unregisterEngines(connection.registry, before.engines);
      register(connection);
    }
    await hooks.emit("gateway_start", {});
    return now.records;
  };
  return {
    ...{ hooks, gate, runAs },
    settings: () => settings.plugins,
    records: () => now.records.map((record) => ({ ...record, strays: straysOf(strays, record) })),
    tools: () => now.tools,
    commands: () => now.commands,
    connect(given) {
      connection = given;
      register(given);
    },
    ownerOf: (id) =>
      now.engines.find(({ engineId }) => engineId === id)?.pluginId ?? now.installs.engines[id],
    command: (text, scope) => answerCommand(now.commands, { text, scope, config: config(), runAs }),
    sessionAction: (pluginId, actionId, request) =>
      runSessionAction(now.actions, { pluginId, actionId, ...request, runAs }),
    reload: (given) => gate.alone(() => reload(given)),
    close: (reason = "shutdown") => hooks.emit("gateway_stop", { reason }),
  };
}

/** Of one entry, or what only the stack could tell to be of its plugin. */
function straysOf(strays: Strays, { id }: PluginRecord): StrayRecord | null {
  return strays.of(id) ?? strays.of(id.split("/")[0]!) ?? null;
}

const withSnapshot = ({ plugins, raw }: PluginSettings) => ({
  plugins,
  snapshot: frozenCopy(raw),
});

/** Model calls of plugins, which may come before there is anything to call. */
function completeThrough(connected: () => PluginConnection | undefined): LoadContext["complete"] {
  return async (pluginId, params) => {
    const connection = connected();
    if (connection === undefined)
      throw new Error("Plugin LLM completion is not bound to an active session agent.");
    const scope = currentPluginScope();
    return asCallOf(await connection.complete({ pluginId, scope, params }), pluginId);
  };
}

/** The call was the plugin's own, not one of an engine for a session. */
function asCallOf(result: LlmCompleteResult, pluginId: string): LlmCompleteResult {
  const { sessionKey, ...audit } = result.audit;
  return {
    ...result,
    audit: {
      ...audit,
      ...(sessionKey && { sessionKey }),
      caller: { kind: "plugin", id: pluginId },
    },
  };
}
