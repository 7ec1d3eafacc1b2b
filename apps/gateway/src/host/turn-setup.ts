// Everything a turn of one session runs with, but for what the person said.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import {
  FALLBACK_ENGINE_ID,
  type HostPorts,
  type HostSession,
  type ModelChoice,
  type ModelPort,
  pluginOf,
  type SideCallReport,
  type SuccessorPort,
  type ToolPort,
  type TurnRequest,
} from "@clew/engine-core";
import { createSummariserRest } from "@clew/legacy-engine";
import { type ContextSizeInput, fixedTokensOf, type ModelRef } from "@clew/plugin-sdk/host";
import { systemClock } from "../clock.ts";
import {
  type BuiltInCompaction,
  chooseSummaryModel,
  createBuiltInCompaction,
} from "../compaction/built-in.ts";
import { waterOf } from "../config/compaction.ts";
import type { LimitsConfig } from "../config/limits.ts";
import { sessionPruneOf } from "../config/pruning.ts";
import type { CostSubject } from "../costs/meter.ts";
import { limitToolCalls } from "../limits/tool-calls.ts";
import { limitToolResults } from "../limits/tool-results.ts";
import { createMcpPort, type McpPort } from "../mcp/client/mcp-port.ts";
import type { AgentModels } from "../models/agent-models.ts";
import { describeSubstitute } from "../models/describe-rest.ts";
import type { Rest } from "../models/plan-rest.ts";
import { LOCAL_API, OFFLINE_MODEL, type ResolvedModel } from "../models/resolve.ts";
import { llmPolicyOf } from "../plugins/engines/engine-settings.ts";
import type { PluginsInUse } from "../plugins/live-generation.ts";
import type { TurnMemory } from "../plugins/memory/turn-memory.ts";
import { engineRecalls } from "../plugins/offer/engine-recall.ts";
import type { OwnedTool } from "../plugins/offer/tools.ts";
import type { TurnHooks } from "../plugins/offer/turn-hooks.ts";
import type { Skill } from "../plugins/skills/find-skills.ts";
import { describeSkills, SKILL_TOOL, skillTools } from "../plugins/skills/skill-tool.ts";
import { SESSION_TOOLS } from "../recall/record-text.ts";
import { type SessionToolsRequest, withSessionTools } from "../recall/session-tools.ts";
import type { CompactableSession } from "../sessions/open.ts";
import { contentHash } from "../text/content-hash.ts";
import { onlyReads } from "../tools/editor-client.ts";
import { type Approve, noSuchTool } from "../tools/tool.ts";
import { workspaceRoot } from "../tools/workspace-files.ts";
import { windowLeft } from "./harness-window.ts";
import type { Replacement, TurnSetup } from "./host.ts";
import { agentOf, asksOf, chainOf, type HostParts, modelsOf, workspaceOf } from "./parts.ts";
import { withEngineTools } from "./played-tools.ts";
import { pluginHooks } from "./plugin-hooks.ts";
import { buildSystemPrompt } from "./system-prompt.ts";
import { withClientAsk, withClientTools } from "./turn-client.ts";
import { harnessOf, isWithoutOurTools } from "./turn-harness.ts";
import { hooksOf, memoryOfTurn, memoryToolsOf } from "./turn-memory.ts";
import { readWorkspaceInstructions } from "./workspace-instructions.ts";

/** The same for turns, compactions and previews. */
export interface PreparedTurn {
  turn: Omit<TurnRequest, "prompt" | "beforePromptBuild" | "signal">;
  hooks: TurnHooks | undefined;
  compaction: BuiltInCompaction;
  /** Tells that another model than the one of the settings answers; null = that one does. */
  substitute: string | null;
  /** Servers that bring tools to it; undefined = none do. */
  mcp: McpPort | undefined;
  /** What the chosen memory plugin gives to it. */
  memory: TurnMemory;
  /** Takes note of a plugin's model call. */
  sideCall: (call: Omit<SideCallReport, "afterCalls">) => void;
}

export async function prepareTurn(
  parts: HostParts,
  setup: TurnSetup,
  plugins: PluginsInUse | undefined,
): Promise<PreparedTurn> {
  const { engines, pluginTools, loaded } = parts;
  const { transcript, state, replacement, onEvent } = setup;
  const { session } = transcript;
  const engine = await engines.resolve(session.agentId, {
    sessionKey: session.sessionKey,
    ...{ signal: setup.signal, slot: setup.engine },
  });
  const failure = onEvent && engines.told.next(session.sessionKey, engine);
  if (failure)
    onEvent({
      type: "notice",
      text: `Engine "${engine.engineId}" failed (${failure.operation}: ${failure.reason.replace(/\.$/, "")}); another one answers.`,
    });
  const { limits } = loaded.config.gateway;
  const hooks = plugins && pluginHooks(parts, setup, plugins);
  const chain = modelsOf(parts, session.agentId, session.sessionKey);
  const model = replacement?.modelRef ?? chain.answering.model;
  const following = followSuccessors(setup, hooks);
  const approve = approveIn(parts, setup);
  const { owner } = engine.guard;
  const ofPlugins = plugins?.toolsBeside(owner) ?? [];
  const skills = plugins?.skillsBeside(owner) ?? [];
  const added = await toolsAdded(parts, session, { plugins, ofPlugins, skills });
  const own = setup.client?.ownTools ?? "all";
  const isToolless =
    own === "none" ||
    parts.sessionSettings?.(session.sessionKey)?.isToolless === true ||
    (await isWithoutOurTools(parts, setup));
  const sources =
    isToolless || own !== "all" || replacement !== undefined ? [] : (parts.mcp?.(session) ?? []);
  const hostTools = parts.tools(approve, added);
  const mcp =
    sources.length === 0 ? undefined : createMcpPort({ base: hostTools, sources, approve });
  const live = limitTools(
    pluginTools({
      base: mcp ?? hostTools,
      ...{ tools: ofPlugins, approve },
    }),
    limits,
  );
  const base = replacement === undefined ? live : playedTools(replacement, live, plugins);
  const recalls = engineRecalls({ owner, tools: ofPlugins, offered: base.list(session) });
  const allTools = isToolless
    ? NO_TOOLS
    : replacement?.ownTools === "none"
      ? base
      : withRecall(parts, recalls && own === "all", {
          base: own === "all" ? base : NO_TOOLS,
          branch: () => following.transcript().compaction.branch(),
          contextWindow: model.contextWindow,
          isPlayed: replacement !== undefined,
        });
  const ownTools = hooks?.tools(allTools, approve) ?? allTools;
  const { client } = setup;
  const tools =
    client === undefined
      ? ownTools
      : withClientTools(ownTools, { tools: limitTools(client.tools, limits) });
  const about = { engineId: engine.guard.engineId, plugins, model, tools };
  const memory = await memoryOfTurn(parts, setup, about);
  const played = replacement?.system;
  const systemPrompt = [
    ...(played?.isAlone === true
      ? []
      : [...(await systemPromptOf(parts, session, { tools: ownTools, skills })), ...memory.parts]),
    ...(played?.texts ?? [client?.system ?? ""]).flatMap((text, at) =>
      text === "" ? [] : [{ id: at === 0 ? "client" : `client ${at + 1}`, text }],
    ),
  ];
  const settings = await turnSettings(parts, setup, model);
  const { engineId } = engine.guard;
  const isAside = () => engines.registry.quarantine.get(engineId, session.sessionKey) !== undefined;
  const engineOf = () => (isAside() ? FALLBACK_ENGINE_ID : engine.guard.engineId);
  const ports = meteredPorts(parts, setup, engine.guard, engineOf);
  const compaction = createBuiltInCompaction({
    ...compactionModels(parts, { ...setup, model: ports.compaction }, model),
    transcript: following.transcript,
    options: { ...agentOf(parts, session.agentId).compaction, ...settings.water },
    tokenRatio: settings.tokenRatio ?? 1,
    reader: loaded.config.session.recall ? SESSION_TOOLS.read : undefined,
    // Neither does a recording wait for a model, nor do its failures tell of one.
    rest: setup.replacement === undefined ? parts.rest : createSummariserRest(),
    fixedTokens: () => fixedTokensOf(systemPrompt, tools.list(session)),
    clock: clockOf(setup),
  });
  const successors = following.port;
  const harness = await harnessOf(parts, setup, { model: chain.answering, engineOf });
  const refusal = (await refusalOf(parts, setup)) ?? harness.refusal;
  const turn = {
    ...{ engine, state, model, systemPrompt },
    ports: {
      ...portsOf(parts, { ...setup, model: ports.turn }, hooks),
      ...{ tools: mcp === undefined ? tools : refreshedBy(mcp, tools), compaction },
      ...(harness.execution !== undefined && { execution: harness.execution }),
      ...(successors !== undefined && { successors }),
      ...hooksOf(parts, {
        hooks: hooks?.port,
        subject: () => ({
          transcript: following.transcript(),
          kind: setup.kind ?? "user",
          ownsCompaction: engine.guard.info().ownsCompaction === true,
        }),
      }),
    },
    settings,
    runtimeFacts: runtimeFacts(parts, session),
    ...(replacement === undefined && (await chainSettings(parts, transcript, chain))),
    llmPolicy: llmPolicyOf(engines.settings(), pluginOf(engine.guard.owner)),
    ...(refusal !== undefined && { refusal }),
    ...(onEvent !== undefined && { onEvent }),
    ...(setup.isWatched !== undefined && { isWatched: setup.isWatched }),
    ...(setup.saidMeanwhile !== undefined && { saidMeanwhile: setup.saidMeanwhile }),
    ...(setup.kind !== undefined && { kind: setup.kind }),
  };
  const ofSettings = chainOf(parts, session.agentId, session.sessionKey).model;
  const substitute = replacement === undefined ? describeSubstitute(chain, ofSettings) : null;
  return { turn, hooks, compaction, substitute, mcp, memory, sideCall: ports.sideCall };
}

/** Undefined: nobody can be asked. */
function approveIn(
  { approvals, editorOf }: HostParts,
  { allowTools = [] }: TurnSetup,
): Approve | undefined {
  if (approvals === undefined) return undefined;
  const all = allowTools.includes("*");
  return async ({ call, signal, ...asked }) => {
    if (onlyReads(editorOf?.(asked.session.sessionKey))) return { kind: "read-only" };
    if (all || allowTools.includes(call.name))
      return { kind: "answered", answer: "once", at: "http" };
    const { id: callId, name } = call;
    return approvals.ask({ ...asked, callId, name, arguments: call.arguments }, signal);
  };
}

/** Whatever stands between, the list is brought up to date where it comes from. */
const refreshedBy = (mcp: McpPort, tools: ToolPort): ToolPort => ({
  ...tools,
  refresh: (request) => mcp.refresh(request),
});

const NO_TOOLS: ToolPort = {
  list: () => [],
  run: ({ call }) => Promise.resolve(noSuchTool(call.name, [])),
};

/** What a recording's calls were offered; where all is, with the tools of the engine that plays. */
const playedTools = (
  { tools: recorded, ownTools }: Replacement,
  own: ToolPort,
  plugins: PluginsInUse | undefined,
): ToolPort =>
  ownTools === "all"
    ? withEngineTools({ recorded, own, ofEngines: plugins?.engineTools ?? new Set() })
    : recorded;

const limitTools = (tools: ToolPort, { toolCallBytes, toolResultBytes }: LimitsConfig): ToolPort =>
  limitToolCalls(limitToolResults(tools, toolResultBytes), toolCallBytes);

/** Of the host's own tools those that its plugins are the reason for. */
const toolsAdded = async (
  parts: HostParts,
  session: HostSession,
  {
    skills,
    ...about
  }: {
    plugins: PluginsInUse | undefined;
    ofPlugins: readonly OwnedTool[];
    skills: readonly Skill[];
  },
) => [...(await memoryToolsOf(parts, session, about)), ...skillTools(skills)];

/** Tools that read the session, and no file. */
const LOOK_UPS: ReadonlySet<string> = new Set(Object.values(SESSION_TOOLS));

async function systemPromptOf(
  parts: HostParts,
  session: HostSession,
  { tools, skills }: { tools: ToolPort; skills: readonly Skill[] },
) {
  const workspace = workspaceOf(parts, session);
  const own = parts.sessionSettings?.(session.sessionKey);
  const offered = tools.list(session);
  const readsSkills = offered.some(({ name }) => name === SKILL_TOOL);
  return buildSystemPrompt({
    custom: parts.loaded.config.agents.defaults.systemPrompt,
    workspace: offered.some(({ name }) => !LOOK_UPS.has(name))
      ? workspaceRoot(workspace)
      : undefined,
    instructions: own?.isLight ? undefined : await readWorkspaceInstructions(workspace, parts.log),
    skills: readsSkills && !own?.isLight ? describeSkills(skills) : undefined,
    extra: own?.extraSystemPrompt,
  });
}

/** `engineRecalls`: the engine offers what the host's own two tools would. */
const withRecall = (
  { loaded }: HostParts,
  engineRecalls: boolean,
  request: SessionToolsRequest,
): ToolPort =>
  loaded.config.session.recall && !engineRecalls ? withSessionTools(request) : request.base;

/** Where the session's transcript is now: an engine may move it while the turn runs. */
function followSuccessors(
  { transcript, successors }: TurnSetup,
  hooks: TurnHooks | undefined,
): {
  transcript: () => CompactableSession;
  port: SuccessorPort | undefined;
} {
  let current = transcript;
  const adopt: SuccessorPort["adopt"] = async (move) => {
    const adopted = await successors?.(move);
    current = adopted ?? current;
    return adopted && (hooks?.transcript(adopted) ?? adopted);
  };
  return { transcript: () => current, port: successors && { adopt } };
}

/**
 * Beyond a cost cap nothing is put together: where it did not fit, the person would be told of
 * that, and a compaction cannot ask either.
 */
async function refusalOf(
  { costs, log }: HostParts,
  { transcript, replacement }: TurnSetup,
): Promise<{ code: "COST_CAP_REACHED"; message: string } | undefined> {
  if (replacement !== undefined) return undefined;
  const message = await costs?.stopOf(transcript.session);
  if (message === undefined) return undefined;
  log.warn(message, { sessionKey: transcript.session.sessionKey });
  return { code: "COST_CAP_REACHED", message };
}

/** Everything that asks a model is counted, but for recordings, which ask none. */
function meteredPorts(
  { models, costs }: HostParts,
  { transcript, replacement, purpose, onSideCall, onEvent }: TurnSetup,
  { engineId, owner }: { engineId: string; owner: string },
  /** Another one than the turn began with, once that failed. */
  answering: () => string,
): Pick<PreparedTurn, "sideCall"> & { turn: ModelPort; compaction: ModelPort } {
  const { port } = models;
  let afterCalls = 0;
  const sideCall: PreparedTurn["sideCall"] = (call) => onSideCall?.({ ...call, afterCalls });
  if (costs === undefined || replacement !== undefined)
    return { turn: port, compaction: port, sideCall };
  const { agentId, sessionKey } = transcript.session;
  const byHost: CostSubject = {
    ...{ agentId, sessionKey, plugin: null },
    get engine() {
      return answering();
    },
  };
  const told = {
    tell: sideCall,
    notice: (text: string) => onEvent?.({ type: "notice", text }),
  };
  const byEngine = { agentId, sessionKey, engine: engineId, plugin: pluginOf(owner) ?? null };
  const replies = costs.meter(port, byHost, { ...told, for: purpose ?? "reply" });
  const ofEngine = costs.meter(port, byEngine, { ...told, for: "engine" });
  return {
    turn: {
      ...ofEngine,
      stream(call) {
        afterCalls++;
        return replies.stream(call);
      },
    },
    compaction: costs.meter(port, byHost, { ...told, for: "compaction" }),
    sideCall,
  };
}

function compactionModels(
  parts: HostParts,
  { replacement, transcript, model: asked }: TurnSetup & { model: ModelPort },
  sessionModel: ModelRef,
) {
  const { models, log } = parts;
  const { agentId } = transcript.session;
  const configured = agentOf(parts, agentId).compaction.model;
  const model = replacement?.summaries?.(asked) ?? asked;
  // A recording stands in for its model only: nobody else is asked over the network.
  const summaryModel =
    replacement === undefined
      ? chooseSummaryModel({ configured, sessionModel, model, log })
      : models.named(OFFLINE_MODEL).model;
  // The offline model only quotes: it adds nothing to the record, unless somebody wants it to.
  const asksForProse =
    configured !== undefined ||
    replacement?.summaries !== undefined ||
    summaryModel.api !== LOCAL_API;
  return { model, sessionModel, summaryModel, asksForProse };
}

const clockOf = ({ replacement }: TurnSetup) => replacement?.clock ?? systemClock;

const IDS = { next: () => randomUUID(), hash: contentHash };

function portsOf(
  { policy, log }: HostParts,
  setup: TurnSetup & { model: ModelPort },
  hooks: TurnHooks | undefined,
): Pick<HostPorts, "transcript" | "model" | "policy" | "log" | "clock" | "ids"> {
  const { replacement } = setup;
  const transcript = hooks?.transcript(setup.transcript) ?? setup.transcript;
  const asked = replacement?.model ?? setup.model;
  const hooked = hooks?.model(asked) ?? asked;
  const model = setup.client === undefined ? hooked : withClientAsk(hooked, setup.client);
  return { ...{ transcript, model, policy, log }, clock: clockOf(setup), ids: IDS };
}

async function turnSettings(
  parts: HostParts,
  { transcript, replacement }: TurnSetup,
  model: ModelRef,
): Promise<NonNullable<TurnRequest["settings"]>> {
  const { agents, session } = parts.loaded.config;
  const { contextPruning } = agents.defaults;
  const { compaction } = agentOf(parts, transcript.session.agentId);
  const own = parts.sessionSettings?.(transcript.session.sessionKey);
  const maxModelCalls = own?.maxModelCalls ?? agents.defaults.maxModelCalls;
  const { historyLimit } = session;
  const sessionPrune = sessionPruneOf(contextPruning);
  const { tokenRatio, ...size } = await sizeSettings(parts, transcript.session.agentId, model);
  return {
    maxModelCalls,
    ...size,
    // A recording's counts are made from estimates: they teach nothing, and need no correction but
    // the one that they are made with.
    ...(replacement === undefined ? { tokenRatio } : ratioOf(replacement)),
    autoCompaction: compaction.enabled,
    midTurnPrecheck: compaction.midTurnPrecheck.enabled,
    citationsMode: parts.loaded.config.memory.citations,
    ...(historyLimit !== undefined && { historyLimit }),
    ...(sessionPrune !== undefined && { sessionPrune }),
  };
}

const ratioOf = ({ tokenRatio }: Replacement) => (tokenRatio === undefined ? {} : { tokenRatio });

/** Who was asked for, why another one answers, and who may answer besides. */
async function chainSettings(
  parts: HostParts,
  transcript: CompactableSession,
  { answering, because, passedOver, fallbacks }: AgentModels,
): Promise<Pick<TurnRequest, "ask" | "leftOut" | "requestedModel" | "fallback" | "fallbacks">> {
  const { agentId } = transcript.session;
  const branch = transcript.compaction.branch();
  const askOf = (asked: ResolvedModel) => {
    const { ask, leftOut } = asksOf(parts, { agentId, branch, asked });
    return { ask, leftOut };
  };
  const choices = fallbacks.map(async (choice): Promise<ModelChoice> => {
    const { model } = choice;
    const { tokenRatio, water } = await sizeSettings(parts, agentId, model);
    return { model, ...askOf(choice), tokenRatio, water };
  });
  return {
    ...askOf(answering),
    requestedModel: chainOf(parts, agentId, transcript.session.sessionKey).model,
    ...(because !== null && { fallback: failureOf(because) }),
    ...(passedOver !== null && { fallback: "auth" as const }),
    fallbacks: await Promise.all(choices),
  };
}

/** Failures of engine and host make no model rest. */
const failureOf = ({ kind }: Rest): NonNullable<TurnRequest["fallback"]> =>
  kind === "engine" || kind === "host" ? "unavailable" : kind;

async function sizeSettings(parts: HostParts, agentId: string, { provider, id }: ModelRef) {
  const { compaction } = agentOf(parts, agentId);
  const { ratio } = await parts.tokenRatios.ratio(agentId, `${provider}/${id}`);
  return {
    reserveTokens: compaction.reserveTokensFloor,
    water: waterOf(compaction, `${provider}/${id}`),
    tokenRatio: ratio,
  };
}

/** By what a session's next request is measured; it may have no transcript yet. */
export async function sizingOf(
  parts: HostParts,
  session: HostSession,
  plugins: PluginsInUse | undefined,
): Promise<Omit<ContextSizeInput, "messages">> {
  const { answering } = modelsOf(parts, session.agentId, session.sessionKey);
  const { model } = answering;
  const { guard } = await parts.engines.resolve(session.agentId, {
    sessionKey: session.sessionKey,
  });
  const { owner } = guard;
  const ofPlugins = plugins?.toolsBeside(owner) ?? [];
  const skills = plugins?.skillsBeside(owner) ?? [];
  const added = await toolsAdded(parts, session, { plugins, ofPlugins, skills });
  const hostTools = parts.tools(undefined, added);
  const sources = parts.mcp?.(session) ?? [];
  const base = parts.pluginTools({
    base: sources.length === 0 ? hostTools : createMcpPort({ base: hostTools, sources }),
    tools: ofPlugins,
  });
  const contextWindow = await windowLeft(parts, session, answering);
  const recalls = engineRecalls({ owner, tools: ofPlugins, offered: base.list(session) });
  const tools = withRecall(parts, recalls, { base, branch: () => [], contextWindow });
  const systemPrompt = await systemPromptOf(parts, session, { tools, skills });
  return {
    contextWindow,
    fixedTokens: fixedTokensOf(systemPrompt, tools.list(session)),
    ...(await sizeSettings(parts, session.agentId, model)),
  };
}

function runtimeFacts(
  parts: HostParts,
  session: HostSession,
): NonNullable<TurnRequest["runtimeFacts"]> {
  const { agentId } = session;
  const workspace = workspaceOf(parts, session);
  const agentDir = join(parts.environment.home, "agents", agentId);
  return { config: parts.loaded.raw, workspaceDir: workspace, cwd: workspace, agentDir };
}
