// Finds, loads and reloads the plugins of one gateway.
import type { EngineRegistry, LogPort } from "@clew/engine-core";
import type { LlmCompleteParams, LlmCompleteResult, RegistrationMode } from "@clew/plugin-sdk/core";
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { z } from "zod";
import { GatewayConfigSchema } from "../config/gateway.ts";
import { DEFAULT_SESSION_NAME } from "../sessions/keys.ts";
import { oneAtATime } from "../sessions/queues.ts";
import { createSharedWatch } from "./contain/shared-watch.ts";
import { frozenCopy } from "./frozen-copy.ts";
import { loadGeneration } from "./generation.ts";
import { type LiveGeneration, liveGeneration, type PluginsInUse } from "./live-generation.ts";
import type { LoadContext } from "./load/load-plugin.ts";
import { madeDataFolder } from "./load/own-home.ts";
import type { PluginRecord } from "./load/record.ts";
import { asPlugin, type RunAs } from "./load/running.ts";
import { currentPluginScope, type PluginScope } from "./load/scope.ts";
import { createSessionTranscripts } from "./load/session-transcripts.ts";
import { provideStateDir } from "./load/state-dir.ts";
import type { SubagentsPort } from "./load/subagents.ts";
import { type ActiveMemory, NO_MEMORY } from "./memory/choose-memory.ts";
import { closeMemory } from "./memory/close-memory.ts";
import { provideMemory } from "./memory/memory-run.ts";
import { memoryTools } from "./memory/memory-tools.ts";
import { memoryToolsForPlugins } from "./memory/tools-for-plugins.ts";
import { answerCommand, type OwnedCommand, type PluginAnswer } from "./offer/chat-commands.ts";
import type { OwnedOffers } from "./offer/free-offers.ts";
import { createHookRunner, type HookRunner, type OwnedHook } from "./offer/hook-runs.ts";
import { registerEngines, unregisterEngines } from "./offer/register-engines.ts";
import { createServices } from "./offer/services.ts";
import { runSessionAction } from "./offer/session-actions.ts";
import { contextOf, type OwnedTool } from "./offer/tools.ts";
import { createStrays, type StrayKind, type StrayRecord, type Strays } from "./strays.ts";

export interface PluginSettings {
  /** The `plugins` section. */
  plugins: PluginsConfig;
  /** The whole file, as plugins see it. */
  raw: unknown;
}

export interface AgentPlace {
  agentId: string;
  workspaceDir: string;
  agentDir: string;
}

export interface PluginHostOptions extends PluginSettings {
  home: string;
  /** Where plugins keep what they store, and where sessions are; default: `home`. */
  stateDir?: string | undefined;
  /** Agents of a configuration, and their folders; the default one first. Absent: none is known. */
  agentsOf?: ((raw: unknown) => AgentPlace[]) | undefined;
  /** Where the default agent works; services are told. Default: where this process is. */
  workspaceDir?: string | undefined;
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
  /** Of the text that one plugin adds to a prompt. Absent: 256 KiB. */
  hookBytes?: number;
  /** A model call of a plugin; `scope` is undefined outside any session. */
  complete(request: {
    pluginId: string;
    scope: PluginScope | undefined;
    params: LlmCompleteParams;
  }): Promise<LlmCompleteResult>;
  /** Sessions of plugins. Absent: there are none; undefined: not yet. */
  subagents?: (() => SubagentsPort | undefined) | undefined;
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
  /** What remembers now. */
  memory(): ActiveMemory;
  readonly hooks: HookRunner;
  /**
   * Starts the services of plugins, for when a gateway begins to be of use; they run to the end,
   * those of a later reload too. Nobody waits for them.
   */
  startServices(): void;
  /** What plugins offer besides, as they are loaded now. */
  offers(): Readonly<OwnedOffers>;
  /** Runs code of a plugin, so that what it leaves behind is known to be its. */
  readonly runAs: RunAs;
  /**
   * Runs `work` with the plugins as they are loaded now. They stay so for it, to its end: a reload
   * that comes meanwhile neither waits for it nor takes them away.
   */
  use<Result>(work: (plugins: PluginsInUse) => Promise<Result>): Promise<Result>;
  /** The answer to a chat line that is a command of a plugin; undefined when it is none. */
  command(text: string, scope: PluginScope): Promise<PluginAnswer | undefined>;
  commands(): readonly OwnedCommand[];
  /** Throws PLUGIN_INVALID when there is no such action or the payload does not fit its schema. */
  sessionAction(
    pluginId: string,
    actionId: string,
    request: { payload: unknown; scope: PluginScope },
  ): Promise<unknown>;
  /** Loads everything again under new settings, for runs that begin afterwards. */
  reload(settings: PluginSettings): Promise<readonly PluginRecord[]>;
  /** Tells plugins that the gateway stops. Engines are the registry's to dispose. */
  close(reason?: string): Promise<void>;
  /** What of plugins does not come to its end while it closes: "service x of plugin …". */
  unfinished(): string[];
}

/**
 * Loads all plugins that are on. A plugin that cannot be loaded is a record with
 * the reason, never a throw.
 */
export async function createPluginHost(options: PluginHostOptions): Promise<PluginHost> {
  const { home, log, bundled = [], reservedTools = [], mode = "full", stateDir = home } = options;
  const { workspaceDir = process.cwd() } = options;
  provideStateDir(stateDir);
  let connection: PluginConnection | undefined;
  const strays = createStrays(log);
  const transcripts = createSessionTranscripts(stateDir);
  const shared = createSharedWatch(strays);
  const runAs: RunAs = (pluginId, work) => {
    const looked = () => shared.around(pluginId, work);
    return asPlugin({ pluginId, strays, transcripts }, looked);
  };
  const complete = completeThrough(() => connection);
  const onFailed = (pluginId: string, message: string) =>
    void strays.note(pluginId, message, "hook");
  const onRefused = (pluginId: string, message: string) =>
    void strays.note(pluginId, message, "refused");
  const runHooks = (hooks: () => readonly OwnedHook[]) =>
    createHookRunner({ hooks, log, runAs, onRefused, onFailed });
  const subagents = () => connection?.subagents?.();
  let isClosed = false;
  let isServing = false;
  let inForce = { number: 0, snapshot: frozenCopy(options.raw) };
  const load = async (generation: number, { plugins, raw }: PluginSettings) => {
    const snapshot = frozenCopy(raw);
    // While it is loaded, a generation knows already what the others do not.
    const config = () => (generation > inForce.number ? snapshot : inForce.snapshot);
    const isRetired = () => isClosed || generation < inForce.number;
    // While it is loaded nobody knows what its memory is.
    let memory = NO_MEMORY;
    const context = {
      tools: memoryToolsForPlugins((agentId) =>
        memoryToolsOf(memory, { runAs, log, cfg: config(), agentId }),
      ),
      ...{ home: stateDir, mode, generation, log, config, complete, strays, subagents, isRetired },
      ...{ transcripts, shared },
      isolation: {
        watchdogSeconds: watchdogSecondsIn(raw),
        onEnded: registerAgain(generation),
        listedFor: options.agentsOf?.(raw).map(aSessionOf),
      },
    };
    const agentEngines = agentEnginesIn(raw);
    const loaded = await loadGeneration({
      ...{ home, plugins, bundled, agentEngines, reservedTools, context },
    });
    memory = loaded.memory;
    return {
      ...{ number: generation, snapshot, settings: plugins },
      ...liveGeneration(loaded, {
        isOfGateway: mode === "full",
        hooks: runHooks(() => loaded.hooks),
        closeMemory: () => closeMemory(loaded.memory, { runAs, log }),
        services: createServices({
          ...{ services: loaded.offers.services, log, runAs },
          onFailedStart(pluginId, message) {
            const record = loaded.records.find(({ id }) => id === pluginId);
            if (record === undefined) return;
            record.diagnostics = [...record.diagnostics, { level: "error", message }];
          },
          context: { config: snapshot, workspaceDir },
          stateDirOf: (pluginId) => madeDataFolder(stateDir, pluginId),
        }),
      }),
    };
  };
  /** Engines of a process that ended are made anew in the next one, under a clean record. */
  const registerAgain = (generation: number) => (pluginId: string) => {
    if (connection === undefined || generation !== now.number) return;
    const engines = now.plugins.engines.filter((engine) => engine.pluginId === pluginId);
    const ready = Promise.resolve();
    registerEngines({ registry: connection.registry, engines, mode, home, log, ready });
  };
  let now = await load(0, options);
  const retiring = new Set<LiveGeneration>();
  const hooks = runHooks(() => now.plugins.hooks);
  const register = ({ registry }: PluginConnection, ready: Promise<void>) =>
    registerEngines({ registry, engines: now.plugins.engines, mode, home, log, ready });

  /** From one moment to the next: no run finds the engines of neither. */
  function replace(next: typeof now): Promise<void> {
    const before = now;
    now = next;
    inForce = next;
    if (connection === undefined) return Promise.resolve();
    const gone = unregisterEngines(connection.registry, before.plugins.engines);
    register(connection, gone);
    return gone;
  }
  async function reload(given: PluginSettings): Promise<readonly PluginRecord[]> {
    const before = now;
    const gone = replace(await load(before.number + 1, given));
    retiring.add(before);
    // Two of one kind may want the same port or file.
    const ended = before.services.stop().then(() => {
      if (isServing && !isClosed) now.services.start();
    });
    subagents()?.endRetired();
    const retired = before.retire().then(() => retiring.delete(before));
    // Runs that go on keep their plugins, and nobody waits for them.
    if (!before.isInUse()) await Promise.all([gone, retired]);
    await ended;
    await hooks.emit("gateway_start", {});
    return records();
  }
  const records = () =>
    now.plugins.records.map((record) => ({
      ...record,
      strays: straysOf(strays, record, "error"),
      failedHooks: straysOf(strays, record, "hook"),
      refused: straysOf(strays, record, "refused"),
      changed: straysOf(strays, record, "changed"),
      busy: straysOf(strays, record, "busy"),
    }));
  const inTurn = oneAtATime();
  return {
    ...{ hooks, runAs, records },
    settings: () => now.settings,
    use: (work) => now.use(work).finally(() => shared.afterRun()),
    tools: () => now.plugins.tools,
    memory: () => now.plugins.memory,
    commands: () => now.plugins.commands,
    offers: () => now.plugins.offers,
    startServices() {
      isServing = true;
      now.services.start();
    },
    connect(given) {
      connection = given;
      register(given, Promise.resolve());
      const limitBytes = given.hookBytes ?? 2 ** 18;
      provideMemory({ ...{ runAs, log, limitBytes }, memory: () => now.plugins.memory });
    },
    ownerOf(id) {
      const { engines, installs } = now.plugins;
      return engines.find(({ engineId }) => engineId === id)?.pluginId ?? installs.engines[id];
    },
    command: (text, scope) => {
      const { plugins, snapshot: config } = now;
      return now.use(() => answerCommand(plugins.commands, { text, scope, config, runAs }));
    },
    sessionAction(pluginId, actionId, request) {
      const { actions } = now.plugins;
      return now.use(() => runSessionAction(actions, { pluginId, actionId, ...request, runAs }));
    },
    reload: (given) => inTurn(() => reload(given)),
    unfinished: () => [
      ...new Set([...retiring, now].flatMap((generation) => generation.unfinished())),
    ],
    async close(reason = "shutdown") {
      isClosed = true;
      subagents()?.endRetired();
      await hooks.settled();
      await Promise.all([...retiring, now].map((generation) => generation.stop(reason)));
    },
  };
}

/** What a factory of tools is told in a session of an agent. */
const aSessionOf = (place: AgentPlace) => {
  const { agentId } = place;
  const sessionKey = `agent:${agentId}:${DEFAULT_SESSION_NAME}`;
  return contextOf({ agentId, sessionKey, sessionId: "listing" }, () => place);
};

/** Of one entry, or what only the stack could tell to be of its plugin. */
function straysOf(strays: Strays, { id }: PluginRecord, kind: StrayKind): StrayRecord | null {
  return strays.of(id, kind) ?? strays.of(id.split("/")[0]!, kind) ?? null;
}

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

const CitationsSchema = z.looseObject({
  memory: z.looseObject({ citations: z.literal("off") }),
});

function memoryToolsOf(
  { chosen }: ActiveMemory,
  given: { runAs: RunAs; log: LogPort; cfg: unknown; agentId: string },
) {
  if (chosen === null) return [];
  const cites = !CitationsSchema.safeParse(given.cfg).success;
  return memoryTools({ ...given, memory: chosen, cites });
}

const WatchdogSchema = z.looseObject({
  gateway: z.looseObject({ watchdogSeconds: z.number() }),
});

/** Of a checked configuration. */
const watchdogSecondsIn = (raw: unknown): number =>
  WatchdogSchema.safeParse(raw).data?.gateway.watchdogSeconds ??
  GatewayConfigSchema.parse({}).watchdogSeconds;

const AgentEnginesSchema = z.looseObject({
  agents: z.looseObject({ list: z.array(z.looseObject({ engine: z.string().optional() })) }),
});

/** Of a checked configuration. */
function agentEnginesIn(raw: unknown): string[] {
  const { data } = AgentEnginesSchema.safeParse(raw);
  return (data?.agents.list ?? []).flatMap(({ engine }) => engine?.trim() ?? []);
}
