// Which newest messages fit a budget, behind the summary of what came before.
import type { AgentMessage } from "../contract/message.ts";
import { type FreshTailOptions, freshTail } from "./fresh-tail.ts";

/** The end of a history, as an engine may show it that chooses by age alone. */
export interface NewestThatFit {
  /** The host's summary, where it and more behind it fit, and the newest messages. */
  messages: AgentMessage[];
  /** Of these, as counted; more than the budget where the newest turn alone is. */
  tokens: number;
  /** True: the host's newest summary has no room, which the view should say. */
  lacksSummary: boolean;
}

/**
 * What `freshTail` protects, and in front of it the newest summary of the host's compaction,
 * however old: what it stands for is nowhere else.
 */
export function newestThatFit(
  history: readonly AgentMessage[],
  { maxTokens = Infinity, count }: Required<Pick<FreshTailOptions, "count">> & FreshTailOptions,
): NewestThatFit {
  const within = (room: number) => freshTail(history, { tokens: Infinity, maxTokens: room, count });
  const summary = history.findLast(({ role }) => role === "compactionSummary");
  const tail = within(maxTokens);
  const rest = history.slice(tail.start);
  if (summary === undefined || rest.includes(summary))
    return { messages: rest, tokens: tail.tokens, lacksSummary: false };
  const own = count(summary);
  const behind = within(maxTokens - own);
  return own + behind.tokens <= maxTokens
    ? {
        messages: [summary, ...history.slice(behind.start)],
        tokens: own + behind.tokens,
        lacksSummary: false,
      }
    : { messages: rest, tokens: tail.tokens, lacksSummary: true };
}
