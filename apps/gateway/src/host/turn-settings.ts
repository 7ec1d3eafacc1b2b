// What the settings say of a turn, and who may answer besides.
import type { ModelChoice, TurnRequest } from "@clew/engine-core";
import type { ModelRef } from "@clew/plugin-sdk/host";
import { waterOf } from "../config/compaction.ts";
import { sessionPruneOf } from "../config/pruning.ts";
import type { AgentModels } from "../models/agent-models.ts";
import type { Rest } from "../models/plan-rest.ts";
import type { ResolvedModel } from "../models/resolve.ts";
import type { CompactableSession } from "../sessions/open.ts";
import type { Replacement, TurnSetup } from "./host.ts";
import { agentOf, asksOf, chainOf, type HostParts } from "./parts.ts";

export async function turnSettings(
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
export async function chainSettings(
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

export async function sizeSettings(parts: HostParts, agentId: string, { provider, id }: ModelRef) {
  const { compaction } = agentOf(parts, agentId);
  const { ratio } = await parts.tokenRatios.ratio(agentId, `${provider}/${id}`);
  return {
    reserveTokens: compaction.reserveTokensFloor,
    water: waterOf(compaction, `${provider}/${id}`),
    tokenRatio: ratio,
  };
}
