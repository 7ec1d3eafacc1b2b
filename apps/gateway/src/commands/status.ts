// The command `/status`, which says who answers and how full the context is.
import type { BudgetReport, EngineFailure, TurnReport } from "@clew/engine-core";
import type { ModelRef } from "@clew/plugin-sdk/host";
import { planBudget } from "@clew/plugin-sdk/host";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import {
  buildContext,
  type CompactionEntry,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import { number } from "../text/number.ts";

export interface StatusFacts {
  key: string;
  model: ModelRef;
  engine: {
    configured: string | null;
    engineId: string;
    switchedOff: string | null;
    degraded: EngineFailure | null;
    ownsCompaction: boolean;
  };
  lifecycle: TurnReport["lifecycle"];
  context: {
    /** Estimated tokens of the history as it would be handed to an engine. */
    tokens: number;
    messages: number;
    /** Window − reserve. */
    promptBudget: BudgetReport["promptBudget"];
    /**
     * Tokens the provider counted for the prompt of the last call; null = it did
     * not say, or there was none.
     */
    measured: number | null;
  };
  compactions: {
    count: number;
    last: { at: string; trigger: string | null; tokensBefore: number } | null;
  };
}

/** Pure. What the stored history says. */
export function contextFacts(
  branch: readonly TranscriptEntry[],
  {
    contextWindow,
    reserveTokens,
    measured,
  }: { contextWindow: number; reserveTokens: number; measured: number | null },
): Pick<StatusFacts, "context" | "compactions"> {
  const messages = buildContext(branch).items.map(({ message }) => message);
  const { promptBudget } = planBudget({ contextWindow, reserveTokens });
  const compactions = branch.filter(
    (entry): entry is CompactionEntry => entry.type === "compaction",
  );
  const last = compactions.at(-1);
  return {
    context: {
      tokens: Math.ceil(estimateMessages(messages).estimate),
      messages: messages.length,
      promptBudget,
      measured,
    },
    compactions: {
      count: compactions.length,
      last:
        last === undefined
          ? null
          : { at: last.timestamp, trigger: triggerOf(last), tokensBefore: last.tokensBefore },
    },
  };
}

function triggerOf({ details }: CompactionEntry): string | null {
  const trigger =
    typeof details === "object" && details !== null && "trigger" in details
      ? details.trigger
      : undefined;
  return typeof trigger === "string" ? trigger : null;
}

/** Pure. Always five lines. */
export function describeStatus({
  model,
  engine,
  lifecycle,
  context,
  compactions,
}: StatusFacts): string {
  const { tokens, messages, promptBudget, measured } = context;
  const { count, last } = compactions;
  const counted =
    measured === null ? "" : `; the provider counted ${number(measured)} in the last call`;
  const newest =
    last === null
      ? ""
      : `; the last at ${last.at.slice(0, 19).replace("T", " ")}${last.trigger === null ? "" : ` (${last.trigger})`}, of ${number(last.tokensBefore)} tokens`;
  return [
    `Model: ${model.provider}/${model.id}, window ${number(model.contextWindow)} tokens`,
    `Engine: ${engine.engineId}, ${whyEngine(engine)}`,
    `Lifecycle: ${lifecycle}; ${engine.ownsCompaction ? "the engine compacts for itself" : "the host compacts"}`,
    `Context: about ${number(tokens)} of ${number(promptBudget)} tokens (${Math.round((100 * tokens) / promptBudget)} %), ${messages} messages${counted}`,
    `Compactions: ${count}${newest}`,
  ].join("\n");
}

function whyEngine({ configured, engineId, switchedOff, degraded }: StatusFacts["engine"]): string {
  if (degraded !== null)
    return `because "${configured}" failed (${degraded.operation}: ${degraded.reason.replaceAll("\n", " ")})`;
  if (switchedOff !== null) return `because ${switchedOff}`;
  return configured === engineId ? "chosen by plugins.slots.contextEngine" : "the default";
}
