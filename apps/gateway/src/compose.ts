// Joins the packages: engines, policy, providers and the gateway's own files become the ports of one turn. The only file that does.
import { hash, randomUUID } from "node:crypto";
import { join } from "node:path";
import {
  type ClockPort,
  createEngineRegistry,
  type EngineRegistry,
  type HostPorts,
  type LlmPolicy,
  type LogPort,
  type ModelPort,
  pluginOf,
  resolveContextEngine,
  runTurn,
  type SessionState,
  type ToolPort,
  type TranscriptPort,
  type TurnEvent,
  type TurnRequest,
  type TurnResult,
} from "@clew/engine-core";
import { createLegacyEngine } from "@clew/legacy-engine";
import { ContextEngineError, type ContextEngineInfo, type ModelRef } from "@clew/plugin-sdk/core";
import { DRIVER_APIS } from "@clew/providers";
import { createTranscriptPolicy, type ImageCodec } from "@clew/transcript-policy";
import { z } from "zod";
import { agentSettings } from "./config/agent.ts";
import type { Environment } from "./config/environment.ts";
import type { LoadedConfig } from "./config/load.ts";
import type { Config } from "./config/schema.ts";
import { type ResolvedModel, resolveModel } from "./models/resolve.ts";
import { createModelPort } from "./models/router.ts";
import { buildSystemPrompt } from "./system-prompt.ts";
import { createToolPort } from "./tools/tool.ts";
import { workspaceRoot } from "./tools/workspace-files.ts";
import { workspaceTools } from "./tools/workspace-tools.ts";
import { withTimeout } from "./turn-timeout.ts";

export interface HostOptions {
  environment: Environment;
  loaded: Pick<LoadedConfig, "config" | "raw">;
  log: LogPort;
}

/** Everything that answers, and nothing about where requests come from. */
export interface Host {
  readonly config: Config;
  /** Ids of registered engines. */
  engineIds(): string[];
  /** The model of an agent. Throws CONFIG_INVALID. */
  model(agentId: string): ResolvedModel;
  workspace(agentId: string): string;
  /** One turn. Outcomes of models, tools and engines are in the result. */
  answer(request: AnswerRequest): Promise<TurnResult>;
  /** The engine that would answer an agent now: its info, and why it is not the chosen one. */
  inspectEngine(agentId: string): Promise<EngineInspection>;
  /** Engines set aside since start, and why. */
  quarantined(): ReturnType<EngineRegistry["quarantine"]["list"]>;
  close(): Promise<void>;
}

export interface EngineInspection {
  configured: string | null;
  engineId: string;
  info: ContextEngineInfo;
  degraded: { operation: string; reason: string } | null;
}

export interface AnswerRequest {
  transcript: TranscriptPort;
  state: SessionState;
  prompt: TurnRequest["prompt"];
  signal?: AbortSignal;
  onEvent?: (event: TurnEvent) => void;
  /** Instead of the agent's model and tools, e.g. a recording. */
  replacement?: { model: ModelPort; modelRef: ModelRef; tools: ToolPort; clock: ClockPort };
}

/** Throws CONFIG_INVALID when the engine slot names an engine nobody registered: better at start than at the first reply. */
export function composeHost({ environment, loaded, log }: HostOptions): Host {
  const { config } = loaded;
  const { home } = environment;
  const agent = (agentId: string) => agentSettings(config, home, agentId);
  const { compaction } = config.agents.defaults;
  const registry = createEngineRegistry({
    fallback: () => createLegacyEngine(),
    log,
    clock: systemClock,
    bounds: () => ({ compact: compaction.timeoutSeconds * 1000 }),
  });
  assertKnownEngine(config, registry);
  const tools = createToolPort({ tools: workspaceTools(({ agentId }) => agent(agentId).workspace) });
  const models = new Map<string, ResolvedModel>();
  const modelNamed = (name: string) => {
    const known = models.get(name) ?? resolveModel({ ...modelRequest(config, environment), name });
    models.set(name, known);
    return known;
  };
  const router = createModelPort({ resolve: modelNamed, log });
  const policy = createTranscriptPolicy({
    imageCodec: lazyImageCodec(),
    imageLimits: { maxDimensionPx: config.agents.defaults.imageMaxDimensionPx },
  });
  const resolveEngine = (agentId: string) =>
    resolveContextEngine({
      registry,
      config: { plugins: config.plugins },
      context: { config: loaded.raw, agentDir: join(home, "agents", agentId), workspaceDir: agent(agentId).workspace },
    });

  const host: Host = {
    config,
    engineIds: () => registry.list().map(({ engineId }) => engineId),
    model: (agentId) => modelNamed(agent(agentId).model),
    workspace: (agentId) => agent(agentId).workspace,
    async answer({ transcript, state, prompt, signal, onEvent, replacement }) {
      const { agentId } = transcript.session;
      const { workspace } = agent(agentId);
      const engine = await resolveEngine(agentId);
      const ports: HostPorts = {
        transcript,
        model: replacement?.model ?? router,
        tools: replacement?.tools ?? tools,
        policy,
        log,
        clock: replacement?.clock ?? systemClock,
        ids,
      };
      const model = replacement?.modelRef ?? host.model(agentId).model;
      const shownWorkspace = ports.tools!.list(transcript.session).length > 0 ? workspaceRoot(workspace) : undefined;
      const { historyLimit } = config.session;
      return withTimeout({ seconds: config.agents.defaults.timeoutSeconds, signal }, (bounded) =>
        runTurn({
          engine,
          ports,
          state,
          model,
          systemPrompt: buildSystemPrompt({ custom: config.agents.defaults.systemPrompt, workspace: shownWorkspace }),
          prompt,
          settings: {
            maxModelCalls: config.agents.defaults.maxModelCalls,
            reserveTokens: compaction.reserveTokensFloor,
            autoCompaction: compaction.enabled,
            midTurnPrecheck: compaction.midTurnPrecheck.enabled,
            ...(historyLimit !== undefined && { historyLimit }),
          },
          runtimeFacts: { config: loaded.raw, workspaceDir: workspace, cwd: workspace, agentDir: join(home, "agents", agentId) },
          llmPolicy: llmPolicyOf(config, engine.guard.owner),
          signal: bounded,
          ...(onEvent !== undefined && { onEvent }),
        }),
      );
    },
    async inspectEngine(agentId) {
      const { configured, guard, degraded } = await resolveEngine(agentId);
      return { configured, engineId: guard.engineId, info: guard.info(), degraded };
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

/** What the operator lets the plugin behind an engine do with models: `plugins.entries.<id>.llm`. */
function llmPolicyOf(config: Config, owner: string): LlmPolicy {
  const pluginId = pluginOf(owner);
  const parsed = LlmPolicySchema.safeParse(pluginId === undefined ? undefined : config.plugins.entries?.[pluginId]?.llm);
  return parsed.success ? parsed.data : {};
}

const LlmPolicySchema = z.looseObject({
  allowModelOverride: z.boolean().default(false),
  allowedModels: z.array(z.string()).default(["*"]),
});

function assertKnownEngine(config: Config, registry: EngineRegistry): void {
  const slot = config.plugins.slots?.contextEngine?.trim() ?? "";
  const known = registry.list().map(({ engineId }) => engineId);
  if (slot === "" || slot.toLowerCase() === "none" || known.includes(slot)) return;
  throw new ContextEngineError(
    "ENGINE_NOT_FOUND",
    `There is no context engine "${slot}" (plugins.slots.contextEngine); known: ${known.join(", ")}. Choose one with "clew config set plugins.slots.contextEngine ${known[0]}".`,
  );
}
