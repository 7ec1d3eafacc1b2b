// Step 3 of a turn, in which the engine chooses what the model sees.
import { type AgentMessage, type AssembleResult, isAbort } from "@clew/plugin-sdk/core";
import {
  fixedTokensOf,
  normalizePromptText,
  planBudget,
  type TokenBudget,
  type ToolDefinition,
} from "@clew/plugin-sdk/host";
import { estimateText } from "@clew/plugin-sdk/tokens";
import { textOf } from "@clew/plugin-sdk/transcript";
import { describeError } from "../engine/quarantine.ts";
import type { SystemPart } from "../request/request-items.ts";
import { hostParams } from "./engine-params.ts";
import type { History } from "./history.ts";
import { pruneAssembly } from "./session-prune.ts";
import type { TurnRun } from "./turn-run.ts";

export interface Assembly {
  /** What the engine was given. */
  history: readonly AgentMessage[];
  /** What it chose. */
  messages: readonly AgentMessage[];
  system: readonly SystemPart[];
  tools: readonly ToolDefinition[];
  budget: TokenBudget;
  /**
   * Estimated tokens of system prompt and tool schemas: what every call carries besides messages.
   */
  fixedTokens: number;
  engineEstimate: number | null;
  promptAuthority: NonNullable<AssembleResult["promptAuthority"]>;
}

/**
 * Asks the engine for its choice (contract §3.1 step 4). Where old tool output is then shortened, a
 * record of it is appended, so that it stays shortened.
 */
export async function assembleContext(run: TurnRun, history: History): Promise<Assembly> {
  const { request, ports, model, engine } = run;
  const tools = ports.tools?.list(run.session) ?? [];
  const prompt = textOf({ role: "user", content: request.prompt.content });
  const fixedTokens = fixedTokensOf(request.systemPrompt, tools);
  const budget = planBudget({
    contextWindow: model.contextWindow,
    reserveTokens: run.settings.reserveTokens,
    fixedTokens: fixedTokens + estimateText(prompt).estimate,
  });

  const result = await askEngine(run, history, { budget, tools, prompt });
  const repaired = ports.policy?.repairPairing({ messages: result.messages, model });
  // A list of the host's own: an engine may go on using the one it returned.
  const whole =
    repaired === undefined || repaired.messages === result.messages
      ? result.messages.slice()
      : repaired.messages;
  const messages = await pruneAssembly(run, whole);
  run.report.historyChanges.push(...(repaired?.changes ?? []));
  run.report.budget = {
    ...budget,
    assembled: run.state.assemblySums.total(messages),
    engineEstimate: usableEstimate(result.estimatedTokens),
    ...(run.settings.tokenRatio !== 1 && { tokenRatio: run.settings.tokenRatio }),
    historyMessages: history.messages.length,
    assembledMessages: messages.length,
  };
  const { contextProjection } = result;
  run.report.engine.projection =
    contextProjection === undefined
      ? null
      : { mode: contextProjection.mode, epoch: contextProjection.epoch ?? null };
  run.report.engine.degraded = engine.degraded ?? request.engine.degraded;
  return {
    history: history.messages,
    messages,
    system: placeAddition(request.systemPrompt, normalizePromptText(result.systemPromptAddition)),
    tools,
    budget,
    fixedTokens,
    engineEstimate: usableEstimate(result.estimatedTokens),
    promptAuthority: result.promptAuthority ?? "assembled",
  };
}

async function askEngine(
  run: TurnRun,
  history: History,
  {
    budget,
    tools,
    prompt,
  }: { budget: TokenBudget; tools: readonly ToolDefinition[]; prompt: string },
): Promise<AssembleResult> {
  const { engine, model, ports, settings } = run;
  try {
    return await engine.assemble({
      ...hostParams(run, "before-turn", budget),
      messages: history.messages.slice(),
      tokenBudget: budget.tokenBudget,
      availableTools: new Set(tools.map((tool) => tool.name)),
      model: `${model.provider}/${model.id}`,
      prompt,
      ...(settings.citationsMode !== undefined && { citationsMode: settings.citationsMode }),
    });
  } catch (error) {
    if (isAbort(error, run.signal) || run.request.engine.guard.policy === "strict") throw error;
    ports.log.warn(
      `context engine assemble failed, using pipeline messages: ${describeError(error)}`,
    );
    return { messages: history.messages.slice(), estimatedTokens: 0 };
  }
}

/**
 * The engine's addition goes right after the cacheable part when the prompt marks
 * one, else before everything.
 */
function placeAddition(
  parts: readonly SystemPart[],
  addition: string | undefined,
): readonly SystemPart[] {
  if (addition === undefined) return parts;
  const boundary = parts.findLastIndex((part) => part.cacheBoundary) + 1;
  return [...parts.slice(0, boundary), { id: "engine", text: addition }, ...parts.slice(boundary)];
}

/** 0, negative and NaN mean that the engine did not estimate. */
const usableEstimate = (tokens: number | undefined) =>
  tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? tokens : null;
