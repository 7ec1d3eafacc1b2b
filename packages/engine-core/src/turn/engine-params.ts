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
import { promptTokensOf, type TokenBudget } from "@clew/plugin-sdk/host";
import { CLEW_EMBEDDED_HOST } from "../engine/host-support.ts";
import { completeForEngine, type LlmBinding } from "../engine/llm.ts";
import { pluginOf } from "../engine/resolve.ts";
import { buildRuntimeSettings } from "../engine/runtime-settings.ts";
import { rewriteEntries } from "./rewrite.ts";
import type { TurnRun } from "./turn-run.ts";

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
  run: TurnRun,
  phase: EnginePhase,
  budget: TokenBudget | undefined,
  options: HostParamOptions = {},
): HostAddedParams {
  const { sessionId, sessionKey } = run.session;
  return {
    sessionId,
    sessionKey,
    sessionTarget: sessionTargetOf(run),
    runtimeSettings: settingsFor(run, budget, options),
    runtimeContext: contextFor(run, phase, budget, options),
  };
}

function sessionTargetOf({ session }: TurnRun): SessionTarget {
  const { agentId, sessionId, sessionKey } = session;
  return { agentId, sessionId, sessionKey };
}

function settingsFor(
  run: TurnRun,
  budget: TokenBudget | undefined,
  { degradedReason }: HostParamOptions,
): RuntimeSettings {
  const { request, model, report } = run;
  return buildRuntimeSettings({
    requestedModel: report.model.requested,
    resolvedModel: report.model.resolved,
    provider: model.provider,
    selectedId: report.engine.infoId,
    selectionSource: report.engine.infoId === "legacy" ? "default" : request.engine.source,
    executionHost: CLEW_EMBEDDED_HOST,
    runtimeId: report.turnId,
    promptTokenBudget: budget?.promptBudget,
    maxOutputTokens: budget?.reserve,
    degradedReason,
  });
}

function contextFor(
  run: TurnRun,
  phase: EnginePhase,
  budget: TokenBudget | undefined,
  options: HostParamOptions,
): RuntimeContext {
  const { request, model, state, session } = run;
  const usage = state.lastUsage;
  const measured = usage === undefined ? 0 : Math.floor(promptTokensOf(usage));
  return {
    ...request.runtimeFacts,
    sessionKey: session.sessionKey,
    agentId: session.agentId,
    provider: model.provider,
    model: model.id,
    modelContextWindow: model.contextWindow,
    transcriptStorage: { kind: "jsonl" },
    sessionTarget: sessionTargetOf(run),
    ...(budget !== undefined && { tokenBudget: budget.tokenBudget }),
    ...(measured > 0 && { currentTokenCount: measured }),
    ...(usage !== undefined && {
      promptCache: {
        lastCallUsage: {
          input: usage.input,
          output: usage.output,
          cacheRead: usage.cacheRead,
          cacheWrite: usage.cacheWrite,
          total: usage.totalTokens,
        },
      },
    }),
    ...(phase === "after-turn" && {
      rewriteTranscriptEntries: (rewrite) => rewriteEntries(run, rewrite),
    }),
    ...(options.background && { allowDeferredCompactionExecution: true }),
    llm: llmOf(run, options.llmPurpose ?? "context-engine.after-turn"),
  } satisfies RuntimeContext;
}

/** The model calls an engine may make in this run. */
function llmOf(
  run: TurnRun,
  purpose: string,
): { complete: (params: LlmCompleteParams) => Promise<LlmCompleteResult> } {
  const binding: LlmBinding = {
    model: run.ports.model,
    sessionModel: run.model,
    session: run.session,
    pluginId: pluginOf(run.request.engine.guard.owner),
    policy: run.request.llmPolicy ?? {},
    purpose,
    signal: run.signal,
  };
  return { complete: (params) => completeForEngine(binding, params) };
}
