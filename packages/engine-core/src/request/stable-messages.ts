// Counts how many messages at the head of a request will stay for long.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { itemFinder } from "./resolve-view.ts";
import { messagesOf, type ViewItem } from "./view-item.ts";

/**
 * Messages, from the first on, that are summaries or were made by the engine: they stay until
 * something is compacted again, while all behind them grows. Counted among the messages as the
 * policy left them.
 */
export function stableMessages(
  items: readonly ViewItem[],
  messages: readonly AgentMessage[],
): number {
  const given = messagesOf(items);
  let stable = 0;
  while (stable < items.length && isStable(items[stable]!)) stable++;
  if (stable === 0) return 0;
  if (messages.slice(0, stable).every((message, at) => message === given[at])) return stable;
  const find = itemFinder(items);
  let count = 0;
  while (count < messages.length) {
    const item = find(messages[count]!);
    if (item === undefined || !isStable(item)) break;
    count++;
  }
  return count;
}

const isStable = ({ message, why }: ViewItem): boolean =>
  message.role === "compactionSummary" ||
  why.source.kind === "summary" ||
  why.source.kind === "engine";
