// What one host is made of.
import type { HostSession, PolicyPort, ToolPort } from "@clew/engine-core";
import type { SummariserRest } from "@clew/legacy-engine";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { CallAsk } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { temperatureSent, thinkingSent } from "@clew/providers";
import { type AgentSettings, agentSettings } from "../config/agent.ts";
import { EMBEDDED_HARNESS } from "../config/harness.ts";
import type { Harnesses } from "../harness/harnesses.ts";
import { type AgentModels, agentModels } from "../models/agent-models.ts";
import { type AskSettings, planAsk, planAskOfProgram } from "../models/call-ask.ts";
import { listModels } from "../models/list-models.ts";
import type { ModelRests } from "../models/model-rests.ts";
import type { ModelWindows } from "../models/model-windows.ts";
import type { Models } from "../models/models.ts";
import type { ResolvedModel } from "../models/resolve.ts";
import { thinkingLevelIn } from "../models/thinking-level.ts";
import type { TokenRatios } from "../models/token-ratios.ts";
import type { Flushes } from "../plugins/memory/flush/flushes.ts";
import type { PluginTools } from "../plugins/offer/tools.ts";
import type { Approve, Tool } from "../tools/tool.ts";
import type { Engines } from "./engines.ts";
import type { HostOptions } from "./host.ts";

export interface HostParts extends Omit<HostOptions, "harnesses"> {
  engines: Engines;
  models: Models;
  policy: PolicyPort;
  /**
   * The host's own tools, which ask a person where they change something; `added` are of this run.
   */
  tools: (approve?: Approve, added?: readonly Tool[]) => ToolPort;
  /** Adds the tools of plugins to others. */
  pluginTools: PluginTools;
  /** What the chosen memory stores before compactions. */
  flushes: Flushes;
  /** Programs that run agents' turns. */
  harnesses: Harnesses;
  tokenRatios: TokenRatios;
  windows: ModelWindows;
  /** Models that failed lately. */
  rests: ModelRests;
  /** Summarising models that were away lately. */
  rest: SummariserRest;
}

export function agentOf({ loaded, environment }: HostParts, agentId: string): AgentSettings {
  return agentSettings(loaded.config, environment.home, agentId);
}

/** Where a session's tools work, and whose instructions its model is shown. */
export const workspaceOf = (
  parts: HostParts,
  { agentId, sessionKey }: Pick<HostSession, "agentId" | "sessionKey">,
): string => parts.editorOf?.(sessionKey)?.workspace ?? agentOf(parts, agentId).workspace;

/**
 * The model of the settings; who answers in its place where only its key is missing. Throws
 * CONFIG_INVALID.
 */
export function modelOf(parts: HostParts, agentId: string): ResolvedModel {
  const { answering, passedOver } = modelsOf(parts, agentId);
  const { model, contextTokens } = agentOf(parts, agentId);
  return passedOver === null ? parts.models.named(model, contextTokens) : answering;
}

/** What calls of a model ask, in a session with this branch. */
export function asksOf(
  parts: HostParts,
  {
    agentId,
    branch,
    asked,
  }: { agentId: string; branch: readonly TranscriptEntry[]; asked: ResolvedModel },
): AskSettings {
  const { name, model, endpoint } = asked;
  const { loaded } = parts;
  const level = thinkingLevelIn(branch);
  if (agentOf(parts, agentId).harness !== EMBEDDED_HARNESS)
    return planAskOfProgram(loaded.config, { agentId, model: name, level });
  const sent = (ask: CallAsk) => thinkingSent({ model, ...ask }, endpoint);
  const sendsTemperature = (ask: CallAsk) =>
    temperatureSent({ model, ...ask }, endpoint) !== undefined;
  return planAsk(loaded.config, {
    ...{ agentId, model: name, level, sent, sendsTemperature },
    route: asked,
  });
}

/**
 * Of an agent, or of one session where a model of its own answers first. Throws CONFIG_INVALID for
 * the model of the settings.
 */
export function modelsOf(parts: HostParts, agentId: string, sessionKey?: string): AgentModels {
  const { contextTokens } = agentOf(parts, agentId);
  return agentModels(chainOf(parts, agentId, sessionKey), {
    models: { named: (name) => parts.models.named(name, contextTokens) },
    rests: parts.rests.all(),
    now: Date.now(),
  });
}

export const usableModels = ({ loaded, environment, rests }: HostParts): string[] =>
  listModels({ config: loaded.config, environment, rests: rests.all(), now: Date.now() })
    // Any name may follow one of a kind, and nobody types here.
    .filter(({ name, problem }) => problem === null && !name.endsWith("/*"))
    .map(({ name }) => name);

/** "provider/model" of whom a session asks: first its own model, where it has one. */
export function chainOf(
  parts: HostParts,
  agentId: string,
  sessionKey: string | undefined,
): Pick<AgentSettings, "model" | "fallbacks"> {
  const { model, fallbacks } = agentOf(parts, agentId);
  const own = sessionKey === undefined ? null : ownModel(parts, sessionKey);
  if (own === null || own === model) return { model, fallbacks };
  return { model: own, fallbacks: [model, ...fallbacks].filter((name) => name !== own) };
}

/** A person's choice comes first, unless nobody knows that model any more. */
function ownModel(parts: HostParts, sessionKey: string): string | null {
  const chosen = parts.sessionModel?.(sessionKey);
  if (chosen !== undefined && isKnown(parts, chosen)) return chosen;
  return parts.sessionSettings?.(sessionKey)?.model ?? null;
}

function isKnown({ models }: HostParts, name: string): boolean {
  try {
    models.named(name);
    return true;
  } catch (error) {
    if (ContextEngineError.is(error, "CONFIG_INVALID")) return false;
    throw error;
  }
}
