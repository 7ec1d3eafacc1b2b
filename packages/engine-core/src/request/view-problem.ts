// Whether the model can be sent the view that an engine chose.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import { blocksOf } from "@clew/plugin-sdk/transcript";
import type { ViewItem } from "./view-item.ts";

/** What a view is held against. */
export interface ViewQuestion {
  history: readonly ViewItem[];
  /** Null: the view need not hold the running turn. */
  turn: readonly ViewItem[] | null;
  /** Tokens of the model that is asked. */
  contextWindow: number;
}

/**
 * Why the host cannot use the view; undefined = it can (contract, "Decided since" 6). `turn` is
 * given where the view must hold the running turn: what was said in it, and what came after its
 * last reply.
 */
export function viewProblem(
  view: readonly ViewItem[],
  { history, turn, contextWindow }: ViewQuestion,
): string | undefined {
  if (view.length === 0 && history.length > 0)
    return `the view is empty although the history holds ${history.length} messages`;
  const swollen = swollenView(view, history, contextWindow);
  if (swollen !== undefined) return swollen;
  const torn = tornCall(view, turn === null ? history : [...history, ...turn]);
  if (torn !== undefined) return torn;
  if (turn === null) return undefined;
  const shown = new Map(view.map(({ id, message }) => [id, message]));
  const missing = needed(turn).find(({ id, message }) => !says(shown.get(id), message));
  return missing === undefined
    ? undefined
    : `the view lacks the running turn's ${missing.message.role === "toolResult" ? "newest tool result" : missing === turn[0] ? "prompt" : "message that came in between"}`;
}

/**
 * What the engine made itself is more than any model call can hold, and the history is not. Views
 * of long histories are another matter: they are made smaller.
 */
function swollenView(
  view: readonly ViewItem[],
  history: readonly ViewItem[],
  contextWindow: number,
): string | undefined {
  const own = view.filter(({ id, why }) => id === undefined || why.changed === true);
  const tokens = leastTokens(own, contextWindow);
  if (tokens <= contextWindow || leastTokens(history, contextWindow) > contextWindow)
    return undefined;
  return `the view holds ${Math.round(tokens).toLocaleString("en-US")} tokens or more that the engine made itself, and the model takes ${contextWindow.toLocaleString("en-US")}, although the history is smaller`;
}

/** By the lower bounds; no more is counted once it is beyond `limit`. */
function leastTokens(items: readonly ViewItem[], limit: number): number {
  let tokens = 0;
  for (const { message } of items) {
    tokens += estimateMessage(message).low;
    if (tokens > limit) break;
  }
  return tokens;
}

/** The same message, however much of it: emptied, it would not be sent. */
const says = (shown: AgentMessage | undefined, message: AgentMessage): boolean =>
  shown?.role === message.role && (!isBlank(shown) || isBlank(message));

const isBlank = (message: AgentMessage): boolean =>
  message.role === "user" &&
  (typeof message.content === "string"
    ? message.content.trim() === ""
    : blocksOf(message.content).every(
        ({ type, text }) => type === "text" && String(text).trim() === "",
      ));

function needed(turn: readonly ViewItem[]): ViewItem[] {
  const lastReply = turn.findLastIndex(({ message }) => message.role === "assistant");
  return turn.filter(
    ({ message }, index) =>
      index === 0 || message.role === "user" || (lastReply >= 0 && index > lastReply),
  );
}

/** A call without its result, or a result without its call, that was whole when it was given. */
function tornCall(view: readonly ViewItem[], given: readonly ViewItem[]): string | undefined {
  // Most engines return the end of what they were given: that can be torn at its start only.
  if (isEndOf(view, given) && view[0]?.message.role !== "toolResult") return undefined;
  const seen = callsIn(view);
  if (seen.calls.size === seen.results.size && isSubset(seen.calls, seen.results)) return undefined;
  const whole = callsIn(given);
  const isTorn = (id: string) => whole.calls.has(id) && whole.results.has(id);
  const call = [...seen.calls].find((id) => !seen.results.has(id) && isTorn(id));
  if (call !== undefined) return `the view holds the call ${call} without its result`;
  const result = [...seen.results].find((id) => !seen.calls.has(id) && isTorn(id));
  return result && `the view holds the result of ${result} without its call`;
}

function isEndOf(view: readonly ViewItem[], given: readonly ViewItem[]): boolean {
  const start = given.length - view.length;
  return (
    start >= 0 && view.every(({ message }, index) => message === given[start + index]?.message)
  );
}

const isSubset = (some: ReadonlySet<string>, all: ReadonlySet<string>) =>
  [...some].every((one) => all.has(one));

function callsIn(items: readonly ViewItem[]) {
  const calls = new Set<string>();
  const results = new Set<string>();
  for (const { message } of items) {
    if (message.role === "toolResult") results.add(message.toolCallId);
    if (message.role !== "assistant") continue;
    for (const block of blocksOf(message.content))
      if (block.type === "toolCall" && typeof block.id === "string") calls.add(block.id);
  }
  return { calls, results };
}
