// Step 5 of a turn, in which model calls and tools alternate until there is an answer.
import type { AgentMessage, AssistantMessage, ToolCallBlock } from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import { planToolResultTruncation } from "@clew/plugin-sdk/transcript";
import { type Precheck, planPrecheck } from "../request/precheck.ts";
import { sizeOf } from "../request/request-size.ts";
import type { Assembly } from "./assembly.ts";
import { autoCompact } from "./auto-compaction.ts";
import { messagesOfTurn } from "./history.ts";
import { type LoopView, nextView } from "./loop-view.ts";
import { callModel, type ModelView } from "./model-call.ts";
import type { AdmittedPrompt } from "./prompt.ts";
import { runToolCalls } from "./tool-calls.ts";
import type { TurnRun } from "./turn-run.ts";

export interface LoopFailure {
  kind: "failed";
  error: ModelError;
  partial: AssistantMessage;
  /** Set when the host held the request back before sending it. */
  precheck?: Precheck;
}

export type LoopOutcome =
  | { kind: "completed"; message: AssistantMessage }
  /** The context was compacted between calls: assemble again and go on. */
  | { kind: "compacted" }
  | LoopFailure;

export async function runModelLoop(
  run: TurnRun,
  assembly: Assembly,
  prompt: AdmittedPrompt,
): Promise<LoopOutcome> {
  let view: LoopView | undefined;
  while (run.report.modelCalls.length < run.settings.maxModelCalls) {
    const isFirst = view === undefined;
    view = await nextView(run, assembly, view);
    const seen = modelView(run, assembly, prompt, view.messages);
    if (isFirst || run.settings.midTurnPrecheck) {
      const held = holdBack(run, assembly, seen);
      if (held !== undefined) return held;
    }
    const outcome = await callModel(run, seen);
    if (!outcome.ok) return { kind: "failed", error: outcome.error, partial: outcome.partial };
    run.recovery = { ...run.recovery, overflowAttempts: 0, autoCompacted: false };
    await storeReply(run, outcome.message);
    const wanted = toolCallsOf(outcome.message);
    if (wanted.length === 0) return { kind: "completed", message: outcome.message };
    await runToolCalls(run, wanted);
    if (run.signal.aborted) return failed("aborted", "The run was cancelled while tools ran.");
    if (await autoCompact(run, assembly)) return { kind: "compacted" };
  }
  return failed(
    "invalid_response",
    `The model asked for tools ${run.settings.maxModelCalls} times without answering; the turn was stopped.`,
  );
}

/** A request that cannot fit is not sent (contract §3.4); undefined = send it. */
function holdBack(run: TurnRun, assembly: Assembly, view: ModelView): LoopFailure | undefined {
  const { state, model } = run;
  const unwindowed =
    assembly.promptAuthority === "preassembly_may_overflow"
      ? sizeOf(state, assembly.history.concat(view.turn))
      : undefined;
  const precheck = planPrecheck({
    promptBudget: assembly.budget.promptBudget,
    assembled: sizeOf(state, view.messages),
    engineEstimate: assembly.engineEstimate,
    ...(unwindowed !== undefined && { unwindowed }),
    fixedTokens: assembly.fixedTokens,
    tokenRatio: run.settings.tokenRatio,
    reducibleChars: () =>
      planToolResultTruncation(view.messages, {
        contextWindow: model.contextWindow,
        freeChars: Number.POSITIVE_INFINITY,
      }).reducibleChars,
  });
  if (precheck.route === "fits") return undefined;
  const message = "Context overflow: prompt too large for the model (precheck).";
  return { ...failed("overflow", message), precheck };
}

function modelView(
  run: TurnRun,
  assembly: Assembly,
  prompt: AdmittedPrompt,
  chosen: readonly AgentMessage[],
): ModelView {
  const { toolsAllow } = prompt;
  const messages = run.state.capped.view(chosen, run.model.contextWindow);
  return {
    system: prompt.system,
    tools:
      toolsAllow === undefined
        ? assembly.tools
        : assembly.tools.filter((tool) => toolsAllow.includes(tool.name)),
    messages:
      prompt.modelView === prompt.message
        ? messages
        : messages.map((message) => (message === prompt.message ? prompt.modelView : message)),
    promptView: prompt.modelView,
    turn: messagesOfTurn(run),
  };
}

async function storeReply(run: TurnRun, message: AssistantMessage): Promise<void> {
  const [entry] = await run.transcript.append([{ type: "message", message }]);
  run.report.replyEntryId = entry!.id;
  run.emit({ type: "message", entryId: entry!.id, message });
}

/**
 * Calls of a reply that was cut at its token limit are not run: their arguments may be incomplete.
 */
function toolCallsOf(message: AssistantMessage): ToolCallBlock[] {
  if (message.stopReason !== "toolUse") return [];
  return message.content.filter((block) => block.type === "toolCall");
}

function failed(kind: "aborted" | "invalid_response" | "overflow", message: string): LoopFailure {
  const stopReason = kind === "aborted" ? "aborted" : "error";
  return {
    kind: "failed",
    error: { kind, message },
    partial: { role: "assistant", content: [], stopReason, errorMessage: message },
  };
}
