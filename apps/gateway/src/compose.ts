// Joins the packages: engines, policy, providers and the gateway's own files become the ports of one turn. The only file that does.
import { hash, randomUUID } from "node:crypto";
import { join } from "node:path";
import {
  type ClockPort,
  compactSession,
  completeForEngine,
  createEngineRegistry,
  DEFAULT_BOUNDS_MS,
  type EngineRegistry,
  type HostPorts,
  type LlmPolicy,
  type LogPort,
  type ModelPort,
  pluginOf,
  previewRequest,
  type RequestPreview,
  resolveContextEngine,
  runTurn,
  type SessionState,
  type SuccessorPort,
  type ToolPort,
  type TurnEvent,
  type TurnRequest,
  type TurnResult,
} from "@clew/engine-core";
import { type CompactionPreview, createLegacyEngine } from "@clew/legacy-engine";
import {
  ContextEngineError,
  type ContextEngineFactory,
  type ContextEngineInfo,
  type ModelRef,
  type PluginsConfig,
} from "@clew/plugin-sdk/core";
import { estimateText } from "@clew/plugin-sdk/tokens";
import { DRIVER_APIS } from "@clew/providers";
import { createTranscriptPolicy, type ImageCodec } from "@clew/transcript-policy";
import { z } from "zod";
import { chooseSummaryModel, createBuiltInCompaction } from "./compaction/built-in.ts";
import { agentSettings, defaultAgentId } from "./config/agent.ts";
import type { Environment } from "./config/environment.ts";
import type { LoadedConfig } from "./config/load.ts";
import { sessionPruneOf } from "./config/pruning.ts";
import type { Config } from "./config/schema.ts";
import { OFFLINE_MODEL, type ResolvedModel, resolveModel } from "./models/resolve.ts";
import { createModelPort } from "./models/router.ts";
import { createTokenRatios } from "./models/token-ratios.ts";
import { slotValue } from "./plugins/enablement.ts";
import { type EngineStatus, engineStatus } from "./plugins/engine-status.ts";
import type { PluginHost } from "./plugins/host.ts";
import { readRecentTurns } from "./plugins/recent-turns.ts";
import { inPluginScope } from "./plugins/scope.ts";
import { createPluginTools } from "./plugins/tools.ts";
import { turnHooks } from "./plugins/turn-hooks.ts";
import type { CompactableSession } from "./sessions/open.ts";
import { agentPaths } from "./sessions/paths.ts";
import { buildSystemPrompt } from "./system-prompt.ts";
import { type Approve, createToolPort } from "./tools/tool.ts";
import { workspaceRoot } from "./tools/workspace-files.ts";
import { workspaceTools } from "./tools/workspace-tools.ts";
import { withTimeout } from "./turn-timeout.ts";
import { readWorkspaceInstructions } from "./workspace-instructions.ts";

export interface HostOptions {
  environment: Environment;
  loaded: Pick<LoadedConfig, "config" | "raw">;
  log: LogPort;
  /** Already loaded; absent = none. */
  plugins?: PluginHost | undefined;
}

/** Everything that answers, and nothing about where requests come from. */
export interface Host {
  readonly config: Config;
  /** Ids of registered engines. */
  engineIds(): string[];
  /** What makes a registered engine; for checks, which need engines of their own. */
  engineFactory(engineId: string): ContextEngineFactory | undefined;
  /** The model of an agent. Throws CONFIG_INVALID. */
  model(agentId: string): ResolvedModel;
  workspace(agentId: string): string;
  /** One turn. Outcomes of models, tools and engines are in the result. */
  answer(request: AnswerRequest): Promise<TurnResult>;
  /** `/compact`; not while a turn of the session runs. What the engine could not do is in the result. */
  compact(request: TurnSetup & { focus?: string | undefined }): ReturnType<typeof compactSession>;
  /** What the built-in compaction would do; changes nothing. */
  previewCompaction(request: TurnSetup, focus?: string): Promise<CompactionPreview>;
  /** What the next call would send; not while a turn of the session runs. */
  preview(request: TurnSetup): Promise<RequestPreview>;
  /** The engine that would answer an agent now: its info, and why it is not the chosen one. */
  inspectEngine(agentId: string): Promise<EngineInspection>;
  /** Everything known about it; asks the engine's own store where it can be asked. */
  engineStatus(agentId: string): Promise<EngineStatus>;
  /** Engines set aside since start, and why. */
  quarantined(): ReturnType<EngineRegistry["quarantine"]["list"]>;
  close(): Promise<void>;
}

export interface EngineInspection {
  configured: string | null;
  engineId: string;
  info: ContextEngineInfo;
  /** Why the configured engine is deliberately not used. */
  switchedOff: string | null;
  degraded: { operation: string; reason: string } | null;
}

/** One session, and how its run is watched. */
export interface TurnSetup {
  transcript: CompactableSession;
  state: SessionState;
  /** Moves the session to a transcript an engine made for it; absent = it stays where it is. */
  successors?: ((move: Parameters<SuccessorPort["adopt"]>[0]) => Promise<CompactableSession | undefined>) | undefined;
  signal?: AbortSignal | undefined;
  onEvent?: ((event: TurnEvent) => void) | undefined;
  /** Asks a person whether a tool may run; absent = nobody is there, and the answer is no. */
  approve?: Approve | undefined;
  /** Instead of the agent's model and tools, e.g. a recording. */
  replacement?: { model: ModelPort; modelRef: ModelRef; tools: ToolPort; clock: ClockPort };
}

export interface AnswerRequest extends TurnSetup {
  prompt: TurnRequest["prompt"];
}

/** Throws CONFIG_INVALID when the engine slot names an engine nobody registered: better at start than at the first reply. */
export function composeHost({ environment, loaded, log, plugins }: HostOptions): Host {
  const { config } = loaded;
  const { home } = environment;
  const agent = (agentId: string) => agentSettings(config, home, agentId);
  const { compaction } = config.agents.defaults;
  const registry = createEngineRegistry({
    fallback: () => createLegacyEngine(),
    log,
    clock: systemClock,
    bounds: (engineId) => engineBounds(pluginSettings(), plugins?.ownerOf(engineId), compaction.timeoutSeconds * 1000),
  });
  const tools = createToolPort({ tools: workspaceTools(({ agentId }) => agent(agentId).workspace) });
  const pluginTools = createPluginTools(() => plugins?.tools() ?? [], log);
  const models = new Map<string, ResolvedModel>();
  const modelNamed = (name: string) => {
    const known = models.get(name) ?? resolveModel({ ...modelRequest(config, environment), name });
    models.set(name, known);
    return known;
  };
  const tokenRatios = createTokenRatios({ home, log });
  const router = createModelPort({ resolve: modelNamed, log });
  const policy = createTranscriptPolicy({
    imageCodec: lazyImageCodec(),
    imageLimits: { maxDimensionPx: config.agents.defaults.imageMaxDimensionPx },
  });
  const pluginSettings = () => plugins?.settings() ?? config.plugins;
  const resolveEngine = (agentId: string) =>
    resolveContextEngine({
      registry,
      config: { plugins: pluginSettings() },
      ...(plugins !== undefined && { ownerPluginOf: plugins.ownerOf }),
      context: { config: loaded.raw, agentDir: join(home, "agents", agentId), workspaceDir: agent(agentId).workspace },
    });

  plugins?.connect({
    registry,
    complete: ({ pluginId, scope, params }) => {
      const agentId = scope?.agentId ?? defaultAgentId(config);
      const session = {
        agentId,
        sessionId: scope?.sessionId ?? "",
        sessionKey: scope?.sessionKey ?? "",
        sessionFile: scope?.sessionFile ?? "",
      };
      const binding = { model: router, sessionModel: host.model(agentId).model, session, pluginId, purpose: "plugin", signal: undefined };
      return completeForEngine({ ...binding, policy: llmPolicyOf(pluginSettings(), pluginId) }, params);
    },
  });
  assertKnownEngine(pluginSettings(), registry, plugins);

  /** A reload of plugins waits for runs, and runs wait for it. */
  const inGate = <Result>({ transcript }: TurnSetup, run: () => Promise<Result>): Promise<Result> =>
    plugins === undefined ? run() : plugins.gate.run(() => inPluginScope(transcript.session, run));

  /** Everything a turn runs with, but for what the person said; the same for compactions and previews. */
  const prepareTurn = async ({ transcript, state, successors, onEvent, approve, replacement }: TurnSetup) => {
    const { session } = transcript;
    const { agentId } = session;
    const { workspace } = agent(agentId);
    const engine = await resolveEngine(agentId);
    const hooks = plugins && turnHooks(plugins.hooks, session);
    const clock = replacement?.clock ?? systemClock;
    const toolPort = replacement?.tools ?? pluginTools({ base: tools, approve });
    const toolList = toolPort.list(session);
    const model = replacement?.modelRef ?? host.model(agentId).model;
    const systemPrompt = buildSystemPrompt({
      custom: config.agents.defaults.systemPrompt,
      workspace: toolList.length > 0 ? workspaceRoot(workspace) : undefined,
      instructions: await readWorkspaceInstructions(workspace, log),
    });
    let current = transcript;
    const builtIn = createBuiltInCompaction({
      transcript: () => current,
      model: router,
      sessionModel: model,
      // A recording stands in for its model only: nobody else is asked over the network.
      summaryModel:
        replacement === undefined
          ? chooseSummaryModel({ configured: compaction.model, sessionModel: model, model: router, log })
          : modelNamed(OFFLINE_MODEL).model,
      options: compaction,
      fixedTokens: () => tokensOf([...systemPrompt.map(({ text }) => text), ...toolList.map((tool) => JSON.stringify(tool))]),
      clock,
    });
    const ports: HostPorts = {
      transcript,
      model: replacement?.model ?? router,
      tools: toolPort,
      policy,
      compaction: builtIn,
      ...(successors !== undefined && {
        successors: {
          adopt: async (move) => {
            const adopted = await successors(move);
            current = adopted ?? current;
            return adopted;
          },
        },
      }),
      ...(hooks !== undefined && { hooks: hooks.port }),
      log,
      clock,
      ids,
    };
    const { historyLimit } = config.session;
    const sessionPrune = sessionPruneOf(config.agents.defaults.contextPruning);
    const turn = {
      engine,
      ports,
      state,
      model,
      systemPrompt,
      settings: {
        maxModelCalls: config.agents.defaults.maxModelCalls,
        reserveTokens: compaction.reserveTokensFloor,
        // What a recording counts is estimated: there is nothing to learn from it, and nothing to correct.
        ...(replacement === undefined && { tokenRatio: (await tokenRatios.ratio(agentId, `${model.provider}/${model.id}`)).ratio }),
        autoCompaction: compaction.enabled,
        midTurnPrecheck: compaction.midTurnPrecheck.enabled,
        ...(historyLimit !== undefined && { historyLimit }),
        ...(sessionPrune !== undefined && { sessionPrune }),
      },
      runtimeFacts: { config: loaded.raw, workspaceDir: workspace, cwd: workspace, agentDir: join(home, "agents", agentId) },
      llmPolicy: llmPolicyOf(pluginSettings(), pluginOf(engine.guard.owner)),
      ...(onEvent !== undefined && { onEvent }),
    };
    return { turn, hooks, compaction: builtIn };
  };

  const host: Host = {
    config,
    engineIds: () => registry.list().map(({ engineId }) => engineId),
    engineFactory: (engineId) => registry.get(engineId)?.factory,
    model: (agentId) => modelNamed(agent(agentId).model),
    workspace: (agentId) => agent(agentId).workspace,
    answer: (request) =>
      inGate(request, async () => {
        const { hooks, turn } = await prepareTurn(request);
        const { prompt, signal } = request;
        const beforePromptBuild = hooks?.beforePromptBuild;
        const result = await withTimeout({ seconds: config.agents.defaults.timeoutSeconds, signal }, (bounded) =>
          runTurn({ ...turn, prompt, ...(beforePromptBuild !== undefined && { beforePromptBuild }), signal: bounded }),
        );
        if (request.replacement === undefined) await tokenRatios.learn(request.transcript.session.agentId, result.report);
        return result;
      }),
    compact: (request) =>
      inGate(request, async () => {
        const { turn } = await prepareTurn(request);
        const { focus, signal } = request;
        return compactSession({
          ...turn,
          ...(focus !== undefined && { customInstructions: focus }),
          ...(signal !== undefined && { signal }),
        });
      }),
    previewCompaction: async (request, focus) => (await prepareTurn(request)).compaction.preview(focus),
    preview: (request) => inGate(request, async () => previewRequest((await prepareTurn(request)).turn)),
    async inspectEngine(agentId) {
      const { configured, guard, switchedOff, degraded } = await resolveEngine(agentId);
      return { configured, engineId: guard.engineId, info: guard.info(), switchedOff, degraded };
    },
    async engineStatus(agentId) {
      const engine = await resolveEngine(agentId);
      const recent = await readRecentTurns(agentPaths(home, agentId).reports);
      return engineStatus({ agentId, engine, recent, quarantined: registry.quarantine.list() });
    },
    quarantined: () => registry.quarantine.list(),
    close: () => registry.dispose(),
  };
  return host;
}

/** What `resolveModel` needs besides the name. */
export function modelRequest(config: Config, environment: Environment) {
  return { models: config.models, environment, apis: DRIVER_APIS, contextTokens: config.agents.defaults.contextTokens };
}

export const systemClock: ClockPort = { now: () => Date.now(), monotonic: () => performance.now() };

const ids = { next: () => randomUUID(), hash: (text: string) => hash("sha256", text).slice(0, 32) };

const tokensOf = (texts: readonly string[]) => Math.ceil(texts.reduce((sum, text) => sum + estimateText(text).estimate, 0));

/** The image library is large: it is loaded when the first image comes. */
function lazyImageCodec(): ImageCodec {
  let loading: Promise<ImageCodec> | undefined;
  const codec = () => {
    loading ??= import("@clew/transcript-policy/sharp").then(({ createSharpCodec }) => createSharpCodec());
    return loading;
  };
  return {
    sizeOf: async (bytes) => (await codec()).sizeOf(bytes),
    toJpeg: async (request) => (await codec()).toJpeg(request),
  };
}

/** `plugins.entries.<id>.timeoutSeconds` replaces every bound of the plugin's engines but that of dispose (contract §2.4). */
function engineBounds(plugins: PluginsConfig, pluginId: string | undefined, compactMs: number): Partial<typeof DEFAULT_BOUNDS_MS> {
  const seconds = pluginId === undefined ? undefined : plugins.entries?.[pluginId]?.timeoutSeconds;
  if (typeof seconds !== "number" || !(seconds > 0)) return { compact: compactMs };
  const { dispose: _kept, ...replaced } = DEFAULT_BOUNDS_MS;
  return Object.fromEntries(Object.keys(replaced).map((method) => [method, seconds * 1000]));
}

/** What the operator lets the plugin behind an engine do with models: `plugins.entries.<id>.llm`. */
function llmPolicyOf(plugins: PluginsConfig, pluginId: string | undefined): LlmPolicy {
  const parsed = LlmPolicySchema.safeParse(pluginId === undefined ? undefined : plugins.entries?.[pluginId]?.llm);
  return parsed.success ? parsed.data : {};
}

const LlmPolicySchema = z.looseObject({
  allowModelOverride: z.boolean().default(false),
  allowedModels: z.array(z.string()).default(["*"]),
});

/** An engine that a plugin would bring if it were on or sound is no slip of the pen: legacy answers, and says so. */
function assertKnownEngine(settings: PluginsConfig, registry: EngineRegistry, plugins: PluginHost | undefined): void {
  const slot = slotValue(settings);
  const known = registry.list().map(({ engineId }) => engineId);
  if (slot === null || known.includes(slot)) return;
  if (plugins?.ownerOf(slot) !== undefined || plugins?.records().some(({ status }) => status !== "loaded")) return;
  throw new ContextEngineError(
    "ENGINE_NOT_FOUND",
    `There is no context engine "${slot}" (plugins.slots.contextEngine); known: ${known.join(", ")}. Choose one with "clew config set plugins.slots.contextEngine ${known[0]}".`,
  );
}
