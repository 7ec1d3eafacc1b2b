// Divides a model's window into what was sent, what is free and what is held back.
import type { ContextView, ContextViewItem } from "../src/reports/context-view.ts";

export type SegmentKind = "system" | "history" | "prompt" | "program" | "free" | "reserve";

export interface Segment {
  kind: SegmentKind;
  label: string;
  /** Of the request's tokens, shared out as its items were estimated. */
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

type Measured = Pick<ContextView, "tokens" | "size" | "budget" | "messages">;

/** Pure. Messages from the prompt on are the running turn, those before it are history. */
export function planBudgetBar({ tokens, size, budget, messages }: Measured): BudgetBarPlan {
  const total = size.tokens;
  const promptIndex = indexOfPrompt(messages);
  const turnTokens = messages.slice(promptIndex).reduce((sum, item) => sum + item.tokens, 0);
  const hasTools = messages.length - promptIndex > 1;
  const share = (estimated: number) =>
    tokens.total === 0 ? 0 : Math.round((total * estimated) / tokens.total);
  const fixed = share(tokens.system + tokens.tools);
  const history = share(tokens.messages - turnTokens);
  const program = share(tokens.program);
  const sent: Segment[] = [
    { kind: "system", label: "System + tools", tokens: fixed },
    { kind: "history", label: "History", tokens: history },
    {
      kind: "prompt",
      label: hasTools ? "Prompt + its tools" : "Prompt",
      tokens: Math.max(0, total - fixed - history - program),
    },
    ...(program === 0
      ? []
      : [{ kind: "program" as const, label: "The program’s own", tokens: program }]),
  ];
  if (budget === null) return { scale: total, window: null, sent, total, rest: [], over: 0 };
  const over = Math.max(0, total - budget.promptBudget);
  const rest: Segment[] = [
    { kind: "free", label: "Free", tokens: Math.max(0, budget.promptBudget - total) },
    { kind: "reserve", label: "Reserve for the reply", tokens: Math.max(0, budget.reserve - over) },
  ];
  return {
    scale: Math.max(budget.contextWindow, total),
    window: budget.contextWindow,
    sent,
    total,
    rest,
    over,
  };
}

/** Pure. With each item's share of what was counted in place of its estimate. */
export function asCounted(view: ContextView): ContextView {
  const { tokens, size, system, tools, messages } = view;
  const perEstimate = tokens.total === 0 ? 0 : size.tokens / tokens.total;
  const shared = (items: readonly ContextViewItem[]) =>
    items.map((item) => ({ ...item, tokens: Math.round(perEstimate * item.tokens) }));
  return { ...view, system: shared(system), tools: shared(tools), messages: shared(messages) };
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
