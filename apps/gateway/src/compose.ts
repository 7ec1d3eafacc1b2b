// Joins the packages: engines, policy, providers and the gateway's own files become the ports of one turn. The only file that does.
import { hash, randomUUID } from "node:crypto";
import { join } from "node:path";
import {
  compactSession,
  completeForEngine,
  createEngineRegistry,
  type HostPorts,
  pluginOf,
  previewRequest,
  resolveContextEngine,
  runTurn,
} from "@clew/engine-core";
import { createLegacyEngine } from "@clew/legacy-engine";
import { fixedTokensOf } from "@clew/plugin-sdk/host";
import { createTranscriptPolicy } from "@clew/transcript-policy";
import { systemClock } from "./clock.ts";
import { chooseSummaryModel, createBuiltInCompaction } from "./compaction/built-in.ts";
import { agentSettings, defaultAgentId } from "./config/agent.ts";
import { sessionPruneOf } from "./config/pruning.ts";
import type { Host, HostOptions, TurnSetup } from "./host.ts";
import { installedImageCodec } from "./models/image-codec.ts";
import { modelRequest } from "./models/model-request.ts";
import { OFFLINE_MODEL, type ResolvedModel, resolveModel } from "./models/resolve.ts";
import { createModelPort } from "./models/router.ts";
import { createTokenRatios } from "./models/token-ratios.ts";
import {
  assertKnownEngine,
  engineBounds,
  failurePolicyOf,
  llmPolicyOf,
} from "./plugins/engines/engine-settings.ts";
import { engineStatus } from "./plugins/engines/engine-status.ts";
import { readRecentTurns } from "./plugins/engines/recent-turns.ts";
import { inPluginScope } from "./plugins/load/scope.ts";
import { createPluginTools } from "./plugins/offer/tools.ts";
import { turnHooks } from "./plugins/offer/turn-hooks.ts";
import { agentPaths } from "./sessions/paths.ts";
import { buildSystemPrompt } from "./system-prompt.ts";
import { createToolPort } from "./tools/tool.ts";
import { workspaceRoot } from "./tools/workspace-files.ts";
import { workspaceTools } from "./tools/workspace-tools.ts";
import { withTimeout } from "./turn-timeout.ts";
import { readWorkspaceInstructions } from "./workspace-instructions.ts";

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
    failurePolicy: (engineId) => failurePolicyOf(pluginSettings(), plugins?.ownerOf(engineId)),
    bounds: (engineId) =>
      engineBounds(pluginSettings(), plugins?.ownerOf(engineId), compaction.timeoutSeconds * 1000),
  });
  const tools = createToolPort({
    tools: workspaceTools(({ agentId }) => agent(agentId).workspace),
  });
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
    ...installedImageCodec(),
    imageLimits: { maxDimensionPx: config.agents.defaults.imageMaxDimensionPx },
  });
  const pluginSettings = () => plugins?.settings() ?? config.plugins;
  const resolveEngine = (agentId: string) =>
    resolveContextEngine({
      registry,
      config: { plugins: pluginSettings() },
      ...(plugins !== undefined && { ownerPluginOf: plugins.ownerOf }),
      strict: (engineId) =>
        failurePolicyOf(pluginSettings(), plugins?.ownerOf(engineId)) === "strict",
      context: {
        config: loaded.raw,
        agentDir: join(home, "agents", agentId),
        workspaceDir: agent(agentId).workspace,
      },
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
      const binding = {
        model: router,
        sessionModel: host.model(agentId).model,
        session,
        pluginId,
        purpose: "plugin",
        signal: undefined,
      };
      return completeForEngine(
        { ...binding, policy: llmPolicyOf(pluginSettings(), pluginId) },
        params,
      );
    },
  });
  assertKnownEngine(pluginSettings(), registry, plugins);

  /** A reload of plugins waits for runs, and runs wait for it. */
  const inGate = <Result>(
    { transcript }: TurnSetup,
    run: () => Promise<Result>,
  ): Promise<Result> =>
    plugins === undefined ? run() : plugins.gate.run(() => inPluginScope(transcript.session, run));

  /** Everything a turn runs with, but for what the person said; the same for compactions and previews. */
  const prepareTurn = async ({
    transcript,
    state,
    successors,
    onEvent,
    approve,
    replacement,
  }: TurnSetup) => {
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
          ? chooseSummaryModel({
              configured: compaction.model,
              sessionModel: model,
              model: router,
              log,
            })
          : modelNamed(OFFLINE_MODEL).model,
      options: compaction,
      fixedTokens: () => fixedTokensOf(systemPrompt, toolList),
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
        ...(replacement === undefined && {
          tokenRatio: (await tokenRatios.ratio(agentId, `${model.provider}/${model.id}`)).ratio,
        }),
        autoCompaction: compaction.enabled,
        midTurnPrecheck: compaction.midTurnPrecheck.enabled,
        ...(historyLimit !== undefined && { historyLimit }),
        ...(sessionPrune !== undefined && { sessionPrune }),
      },
      runtimeFacts: {
        config: loaded.raw,
        workspaceDir: workspace,
        cwd: workspace,
        agentDir: join(home, "agents", agentId),
      },
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
        const result = await withTimeout(
          { seconds: config.agents.defaults.timeoutSeconds, signal },
          (bounded) =>
            runTurn({
              ...turn,
              prompt,
              ...(beforePromptBuild !== undefined && { beforePromptBuild }),
              signal: bounded,
            }),
        );
        if (request.replacement === undefined)
          await tokenRatios.learn(request.transcript.session.agentId, result.report);
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
    previewCompaction: async (request, focus) =>
      (await prepareTurn(request)).compaction.preview(focus),
    preview: (request) =>
      inGate(request, async () => previewRequest((await prepareTurn(request)).turn)),
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

const ids = { next: () => randomUUID(), hash: (text: string) => hash("sha256", text).slice(0, 32) };
