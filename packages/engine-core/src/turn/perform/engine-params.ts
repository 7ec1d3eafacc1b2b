// What every engine call of a turn gets besides its own parameters.
import type {
  LlmCompleteParams,
  LlmCompleteResult,
  ReasonCode,
  RuntimeContext,
  RuntimeSettings,
  SessionRef,
  SessionTarget,
} from "@clew/plugin-sdk/core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { promptTokensOf } from "@clew/plugin-sdk/host";
import { hostOf } from "../../engine/host-support.ts";
import { completeForEngine, type LlmBinding } from "../../engine/llm.ts";
import { pluginOf } from "../../engine/resolve.ts";
import { buildRuntimeSettings } from "../../engine/runtime-settings.ts";
import { reasonCodeOf } from "../../recovery/plan-fallback.ts";
import { promptCacheInfo } from "./cache.ts";
import { rewriteEntries } from "./rewrite.ts";
import { sessionOf, type World } from "./world.ts";

/**
 * In which part of a run an engine is called: before the turn it may not rewrite the transcript.
 */
export type EnginePhase = "before-turn" | "after-turn";

export interface HostAddedParams extends SessionRef {
  sessionTarget: SessionTarget;
  runtimeSettings: RuntimeSettings;
  runtimeContext: RuntimeContext;
}

export interface HostParamOptions {
  /** Why this run is not normal. */
  degradedReason?: ReasonCode | undefined;
  /** What `runtimeContext.llm` calls are audited as. */
  llmPurpose?: string;
  /** Background maintenance: expensive work is allowed now. */
  background?: boolean;
}

/** Session, `runtimeSettings` and `runtimeContext` for one call (contract §1.4–1.5). */
export function hostParams(
  world: World,
  phase: EnginePhase,
  options: HostParamOptions = {},
): HostAddedParams {
  const { sessionId, sessionKey } = sessionOf(world);
  return {
    sessionId,
    sessionKey,
    sessionTarget: sessionTargetOf(world),
    runtimeSettings: settingsFor(world, options),
    runtimeContext: contextFor(world, phase, options),
  };
}

function sessionTargetOf(world: World): SessionTarget {
  const { agentId, sessionId, sessionKey } = sessionOf(world);
  return { agentId, sessionId, sessionKey };
}

function settingsFor(
  { setup, ports }: World,
  { degradedReason }: HostParamOptions,
): RuntimeSettings {
  const { engine, model, requestedModel, turnId, budget, fallback } = setup;
  return buildRuntimeSettings({
    requestedModel,
    resolvedModel: `${model.provider}/${model.id}`,
    provider: model.provider,
    selectedId: engine.info.id,
    selectionSource: engine.info.id === "legacy" ? "default" : engine.source,
    executionHost: hostOf(ports),
    harnessId: ports.execution?.harnessId,
    runtimeId: turnId,
    promptTokenBudget: budget.promptBudget,
    maxOutputTokens: budget.reserve,
    degradedReason,
    fallbackReason: fallback === null ? null : reasonCodeOf(fallback),
  });
}

function contextFor(world: World, phase: EnginePhase, options: HostParamOptions): RuntimeContext {
  const { request, state, setup } = world;
  const { model, budget, settings } = setup;
  const { sessionKey, agentId } = sessionOf(world);
  const usage = state.lastUsage;
  const promptCache = promptCacheInfo(world);
  const measured = usage === undefined ? 0 : Math.floor(promptTokensOf(usage));
  return {
    ...request.runtimeFacts,
    sessionKey,
    agentId,
    provider: model.provider,
    model: model.id,
    modelId: model.id,
    modelContextWindow: model.contextWindow,
    ...(setup.execution !== null && { agentHarnessId: setup.execution.harnessId }),
    ...(sessionOf(world).sessionFile !== undefined && { transcriptStorage: { kind: "jsonl" } }),
    sessionTarget: sessionTargetOf(world),
    tokenBudget: budget.tokenBudget,
    // Below 1 it gives an engine nothing; see `planBudget`.
    ...(settings.tokenRatio > 1 && { tokenRatio: settings.tokenRatio }),
    ...(measured > 0 && { currentTokenCount: measured }),
    ...(promptCache !== undefined && { promptCache }),
    ...(phase === "after-turn" && { rewriteTranscriptEntries: rewriterOf(world) }),
    ...(options.background && { allowDeferredCompactionExecution: true }),
    // What a preview finds out must cost nothing.
    ...(setup.purpose !== "preview" && {
      llm: llmOf(world, options.llmPurpose ?? "context-engine.after-turn"),
    }),
  } satisfies RuntimeContext;
}

/** Refuses when something else was appended since it was lent (contract §1.5). */
function rewriterOf(world: World): NonNullable<RuntimeContext["rewriteTranscriptEntries"]> {
  const leafNow = async () => (await world.transcript.read({ tail: 1 }))?.at(-1)?.id;
  let leaf = world.state.branch.at(-1)?.id;
  return async (rewrite) => {
    if ((await leafNow()) !== leaf)
      throw new ContextEngineError(
        "TRANSCRIPT_MOVED",
        `Session ${sessionOf(world).sessionKey} has grown since this engine was called; nothing was rewritten.`,
      );
    const result = await rewriteEntries(world, rewrite);
    leaf = await leafNow();
    return result;
  };
}

/** The model calls an engine may make in this run. */
function llmOf(
  world: World,
  purpose: string,
): { complete: (params: LlmCompleteParams) => Promise<LlmCompleteResult> } {
  const { ports, setup, request, signal } = world;
  const binding: LlmBinding = {
    model: ports.model,
    sessionModel: setup.model,
    session: sessionOf(world),
    pluginId: pluginOf(request.engine.guard.owner),
    policy: request.llmPolicy ?? {},
    purpose,
    signal,
  };
  return { complete: (params) => completeForEngine(binding, params) };
}
