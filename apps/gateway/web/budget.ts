// Divides a model's window into what was sent, what is free and what is held back.
import type { ContextView } from "../src/reports/context-view.ts";

export type SegmentKind = "system" | "history" | "prompt" | "free" | "reserve";

export interface Segment {
  kind: SegmentKind;
  label: string;
  /** Estimated tokens. */
  tokens: number;
}

export interface BudgetBarPlan {
  /**
   * Tokens of the whole bar: the window, or what was sent when that is more; null window = the turn
   * ended before it was known.
   */
  scale: number;
  window: number | null;
  /** What was sent, adding up to `total`. */
  sent: readonly Segment[];
  total: number;
  /** Free and reserve; none without a window. */
  rest: readonly Segment[];
  /** Tokens sent beyond what the reserve leaves; 0 = it fits. */
  over: number;
}

type Measured = Pick<ContextView, "tokens" | "budget" | "messages">;

/** Pure. Messages from the prompt on are the running turn, those before it are history. */
export function planBudgetBar({ tokens, budget, messages }: Measured): BudgetBarPlan {
  const promptIndex = indexOfPrompt(messages);
  const turnTokens = messages.slice(promptIndex).reduce((sum, item) => sum + item.tokens, 0);
  const hasTools = messages.length - promptIndex > 1;
  const sent: Segment[] = [
    { kind: "system", label: "System + tools", tokens: tokens.system + tokens.tools },
    { kind: "history", label: "History", tokens: tokens.messages - turnTokens },
    { kind: "prompt", label: hasTools ? "Prompt + its tools" : "Prompt", tokens: turnTokens },
  ];
  if (budget === null)
    return { scale: tokens.total, window: null, sent, total: tokens.total, rest: [], over: 0 };
  const over = Math.max(0, tokens.total - budget.promptBudget);
  const rest: Segment[] = [
    { kind: "free", label: "Free", tokens: Math.max(0, budget.promptBudget - tokens.total) },
    { kind: "reserve", label: "Reserve for the reply", tokens: Math.max(0, budget.reserve - over) },
  ];
  return {
    scale: Math.max(budget.contextWindow, tokens.total),
    window: budget.contextWindow,
    sent,
    total: tokens.total,
    rest,
    over,
  };
}

/**
 * Where the running turn begins: its prompt, else the last message of a person; the
 * end when there is neither.
 */
export function indexOfPrompt(messages: ContextView["messages"]): number {
  const byCode = messages.findLastIndex(({ code }) => code === "prompt");
  const index = byCode >= 0 ? byCode : messages.findLastIndex(({ role }) => role === "user");
  return index < 0 ? messages.length : index;
}
