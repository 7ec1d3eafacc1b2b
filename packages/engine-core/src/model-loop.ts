// Step 5 of a turn: model calls and tools in turn, until the model answers, fails or is cancelled.
import type { AgentMessage, AssistantMessage, ModelError, ToolCallBlock } from "@clew/plugin-sdk/core";
import type { Assembly } from "./assembly.ts";
import { type LoopView, nextView } from "./loop-view.ts";
import { callModel, type ModelView } from "./model-call.ts";
import type { AdmittedPrompt } from "./prompt.ts";
import { runToolCalls } from "./tool-calls.ts";
import type { TurnRun } from "./turn-run.ts";

export type LoopOutcome =
  | { kind: "completed"; message: AssistantMessage }
  | { kind: "failed"; error: ModelError; partial: AssistantMessage };

export async function runModelLoop(run: TurnRun, assembly: Assembly, prompt: AdmittedPrompt): Promise<LoopOutcome> {
  let view: LoopView | undefined;
  for (let calls = 0; calls < run.settings.maxModelCalls; calls++) {
    view = await nextView(run, assembly, view);
    const outcome = await callModel(run, modelView(assembly, prompt, view.messages));
    if (!outcome.ok) return { kind: "failed", error: outcome.error, partial: outcome.partial };
    await storeReply(run, outcome.message);
    const wanted = toolCallsOf(outcome.message);
    if (wanted.length === 0) return { kind: "completed", message: outcome.message };
    await runToolCalls(run, wanted);
    if (run.signal.aborted) return failed("aborted", "The run was cancelled while tools ran.");
  }
  return failed("invalid_response", `The model asked for tools ${run.settings.maxModelCalls} times without an answer; the turn was ended.`);
}

function modelView(assembly: Assembly, prompt: AdmittedPrompt, messages: readonly AgentMessage[]): ModelView {
  const { toolsAllow } = prompt;
  return {
    system: prompt.system,
    tools: toolsAllow === undefined ? assembly.tools : assembly.tools.filter((tool) => toolsAllow.includes(tool.name)),
    messages:
      prompt.modelView === prompt.message ? messages : messages.map((message) => (message === prompt.message ? prompt.modelView : message)),
    promptView: prompt.modelView,
  };
}

async function storeReply(run: TurnRun, message: AssistantMessage): Promise<void> {
  const [entry] = await run.ports.transcript.append([{ type: "message", message }]);
  run.report.replyEntryId = entry!.id;
  run.emit({ type: "message", entryId: entry!.id, message });
}

/** Calls of a reply that was cut at its token limit are not run: their arguments may be incomplete. */
function toolCallsOf(message: AssistantMessage): ToolCallBlock[] {
  if (message.stopReason !== "toolUse") return [];
  return message.content.filter((block) => block.type === "toolCall");
}

function failed(kind: "aborted" | "invalid_response", message: string): LoopOutcome {
  const stopReason = kind === "aborted" ? "aborted" : "error";
  return { kind: "failed", error: { kind, message }, partial: { role: "assistant", content: [], stopReason, errorMessage: message } };
}
