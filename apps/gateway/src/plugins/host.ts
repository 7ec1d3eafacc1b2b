// Finds, loads and reloads the plugins of one gateway.
import type { EngineRegistry, LogPort } from "@clew/engine-core";
import type { LlmCompleteParams, LlmCompleteResult, RegistrationMode } from "@clew/plugin-sdk/core";
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { discoverPlugins } from "./find/discover.ts";
import { recallRecords, rememberEngines } from "./find/engine-memory.ts";
import type { InstallRecords } from "./find/records.ts";
import { frozenCopy } from "./frozen-copy.ts";
import { notOffered, requestInvalid } from "./invalid.ts";
import { logRecords, type PluginRecord } from "./load/record.ts";
import { currentPluginScope, inPluginScope, type PluginScope } from "./load/scope.ts";
import { provideStateDir } from "./load/state-dir.ts";
import { loadPlugins } from "./load-plugins.ts";
import { type OwnedCommand, parseCommand, runPluginCommand } from "./offer/chat-commands.ts";
import { createHookRunner, type HookRunner } from "./offer/hook-runs.ts";
import type { OwnedTool } from "./offer/tools.ts";
import { createRunGate, type RunGate } from "./run-gate.ts";

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
  /** Loads everything anew under new settings, between runs. */
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
  let settings: PluginSettings = options;
  let snapshot = frozenCopy(options.raw);
  let connection: PluginConnection | undefined;
  let generation = 0;
  let records: InstallRecords;

  const complete = (pluginId: string, params: LlmCompleteParams) => {
    if (connection === undefined)
      return Promise.reject(
        new Error("Plugin LLM completion is not bound to an active session agent."),
      );
    return connection
      .complete({ pluginId, scope: currentPluginScope(), params })
      .then((result) => asPlugin(result, pluginId));
  };
  const load = () => {
    records = recallRecords(home, log);
    const found = discoverPlugins({ home, plugins: settings.plugins, records, bundled });
    const context = { home: stateDir, mode, generation, log, config: () => snapshot, complete };
    return loadPlugins({
      found,
      plugins: settings.plugins,
      engineOwners: records.engines,
      reservedTools,
      context,
    });
  };
  let loaded = await load();
  logRecords(loaded.records, log);

  const registerEngines = () => {
    for (const { pluginId, engineId, factory, diagnostics } of loaded.engines) {
      const result = connection!.registry.register({
        ...{ engineId, factory, owner: ownerName(pluginId), allowSameOwnerRefresh: true },
        lifecycle: mode === "full" ? "runtime" : "readOnlyDiscovery",
      });
      if (result.ok) continue;
      const message = `context engine already registered: ${engineId} (${result.existingOwner})`;
      diagnostics.push({ level: "error", message });
      log.error(`[plugins] ${pluginId}: ${message}`);
    }
    if (mode === "full") rememberEngines(home, loaded.engines, log);
  };
  const hooks = createHookRunner({ hooks: () => loaded.hooks, log });

  return {
    settings: () => settings.plugins,
    records: () => loaded.records,
    hooks,
    gate,
    tools: () => loaded.tools,
    commands: () => loaded.commands,
    connect(given) {
      connection = given;
      registerEngines();
    },
    ownerOf: (engineId) =>
      loaded.engines.find((engine) => engine.engineId === engineId)?.pluginId ??
      records.engines[engineId],
    async command(text, scope) {
      const parsed = parseCommand(text);
      const found = parsed && loaded.commands.find(({ words }) => words.includes(parsed.word));
      return found && runPluginCommand(found, { args: parsed.args, scope, config: snapshot });
    },
    async sessionAction(pluginId, actionId, { payload, scope }) {
      const action = loaded.actions.find(
        (each) => each.pluginId === pluginId && each.id === actionId,
      );
      if (action === undefined)
        throw notOffered(
          `Plugin "${pluginId}" offers no session action "${actionId}"; "clew plugins inspect ${pluginId}" lists those it has.`,
        );
      const checked = action.schema?.check(payload);
      if (checked?.ok === false)
        throw requestInvalid(
          `Session action "${actionId}" of plugin "${pluginId}" does not take this payload: ${checked.problems.join("; ")}.`,
        );
      const { sessionKey, sessionId, agentId } = scope;
      return inPluginScope(scope, async () =>
        action.handler({ payload, pluginId, actionId, sessionKey, sessionId, agentId }),
      );
    },
    reload: (given) =>
      gate.alone(async () => {
        await hooks.emit("gateway_stop", { reason: "plugin replacement" });
        const before = loaded;
        settings = given;
        snapshot = frozenCopy(given.raw);
        generation++;
        loaded = await load();
        logRecords(loaded.records, log);
        if (connection !== undefined) {
          for (const { pluginId } of before.engines)
            await connection.registry.unregisterOwner(ownerName(pluginId));
          registerEngines();
        }
        await hooks.emit("gateway_start", {});
        return loaded.records;
      }),
    async close(reason = "shutdown") {
      await hooks.emit("gateway_stop", { reason });
    },
  };
}

/** The call was the plugin's own, not one of an engine for a session. */
function asPlugin(result: LlmCompleteResult, pluginId: string): LlmCompleteResult {
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

const ownerName = (pluginId: string) => `plugin:${pluginId}`;
