// Whether the model can be sent the view that an engine chose.
import type { ViewItem } from "./view-item.ts";

/**
 * Why the host cannot use the view; undefined = it can (contract, "Decided since" 6). `turn` is
 * given where the view must hold the running turn: its prompt, and what came after its last reply.
 */
export function viewProblem(
  view: readonly ViewItem[],
  { history, turn }: { history: readonly ViewItem[]; turn: readonly ViewItem[] | null },
): string | undefined {
  if (view.length === 0 && history.length > 0)
    return `the view is empty although the history holds ${history.length} messages`;
  if (turn === null) return undefined;
  const shown = new Set(view.map(({ id }) => id));
  const missing = needed(turn).find(({ id }) => !shown.has(id));
  return missing === undefined
    ? undefined
    : `the view lacks the running turn's ${missing.message.role === "toolResult" ? "newest tool result" : "prompt"}`;
}

function needed(turn: readonly ViewItem[]): ViewItem[] {
  const lastReply = turn.findLastIndex(({ message }) => message.role === "assistant");
  return [...turn.slice(0, 1), ...(lastReply < 0 ? [] : turn.slice(lastReply + 1))];
}
