// Everything a turn of one session runs with, but for what the person said.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import {
  FALLBACK_ENGINE_ID,
  type HostPorts,
  type HostSession,
  type ModelPort,
  pluginOf,
  type SuccessorPort,
  type ToolPort,
  type TurnRequest,
} from "@clew/engine-core";
import { createSummariserRest } from "@clew/legacy-engine";
import { fixedTokensOf } from "@clew/plugin-sdk/host";
import { systemClock } from "../clock.ts";
import { type BuiltInCompaction, createBuiltInCompaction } from "../compaction/built-in.ts";
import type { McpPort } from "../mcp/client/mcp-port.ts";
import { describeSubstitute } from "../models/describe-rest.ts";
import { llmPolicyOf } from "../plugins/engines/engine-settings.ts";
import type { PluginsInUse } from "../plugins/live-generation.ts";
import type { TurnMemory } from "../plugins/memory/turn-memory.ts";
import type { TurnHooks } from "../plugins/offer/turn-hooks.ts";
import { SESSION_TOOLS } from "../recall/record-text.ts";
import type { CompactableSession } from "../sessions/open.ts";
import { contentHash } from "../text/content-hash.ts";
import type { TurnSetup } from "./host.ts";
import { agentOf, chainOf, type HostParts, modelsOf, workspaceOf } from "./parts.ts";
import { pluginHooks } from "./plugin-hooks.ts";
import { withClientAsk } from "./turn-client.ts";
import { harnessOf } from "./turn-harness.ts";
import { hooksOf, memoryOfTurn } from "./turn-memory.ts";
import { compactionModels, type MeteredPorts, meteredPorts } from "./turn-models.ts";
import { systemPromptOf } from "./turn-prompt.ts";
import { chainSettings, turnSettings } from "./turn-settings.ts";
import { toolsOfTurn } from "./turn-tools.ts";

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
  sideCall: MeteredPorts["sideCall"];
}

export async function prepareTurn(
  parts: HostParts,
  setup: TurnSetup,
  plugins: PluginsInUse | undefined,
): Promise<PreparedTurn> {
  const { engines, loaded } = parts;
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
  const hooks = plugins && pluginHooks(parts, setup, plugins);
  const chain = modelsOf(parts, session.agentId, session.sessionKey);
  const model = replacement?.modelRef ?? chain.answering.model;
  const following = followSuccessors(setup, hooks);
  const { owner } = engine.guard;
  const { mcp, ownTools, tools, skills } = await toolsOfTurn(parts, setup, {
    ...{ owner, plugins, hooks, contextWindow: model.contextWindow },
    branch: () => following.transcript().compaction.branch(),
  });
  const about = { engineId: engine.guard.engineId, plugins, model, tools };
  const memory = await memoryOfTurn(parts, setup, about);
  const played = replacement?.system;
  const systemPrompt = [
    ...(played?.isAlone === true
      ? []
      : [...(await systemPromptOf(parts, session, { tools: ownTools, skills })), ...memory.parts]),
    ...(played?.texts ?? [setup.client?.system ?? ""]).flatMap((text, at) =>
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

/** Whatever stands between, the list is brought up to date where it comes from. */
const refreshedBy = (mcp: McpPort, tools: ToolPort): ToolPort => ({
  ...tools,
  refresh: (request) => mcp.refresh(request),
});

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

function runtimeFacts(
  parts: HostParts,
  session: HostSession,
): NonNullable<TurnRequest["runtimeFacts"]> {
  const { agentId } = session;
  const workspace = workspaceOf(parts, session);
  const agentDir = join(parts.environment.home, "agents", agentId);
  return { config: parts.loaded.raw, workspaceDir: workspace, cwd: workspace, agentDir };
}
