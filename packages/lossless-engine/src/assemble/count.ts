// Estimates the tokens of messages as a model of a window is shown them.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { createSlices } from "@clew/plugin-sdk/host";
import { estimateMessage, estimateMessageSteps, type TokenEstimate } from "@clew/plugin-sdk/tokens";
import { capToolResults } from "@clew/plugin-sdk/transcript";

/** Tokens of a message, as a model of this window is shown it. Undefined: not known, then whole. */
export type Count = (message: AgentMessage) => TokenEstimate;

/** Hosts shorten long tool results by the window. */
export const counter =
  (contextWindow: number | undefined): Count =>
  (message) =>
    estimateMessage(asShown(message, contextWindow));

const asShown = (message: AgentMessage, contextWindow: number | undefined): AgentMessage =>
  contextWindow === undefined || message.role !== "toolResult"
    ? message
    : capToolResults([message], contextWindow)[0]!;

/** What is to be counted ahead. */
export interface AheadRequest {
  /** Oldest first. */
  readonly messages: readonly AgentMessage[];
  /** See `counter`. */
  readonly contextWindow: number | undefined;
  /** Tokens: nobody looks further back than that. */
  readonly most: number;
  /** Which of an estimate's numbers is held against `most`. */
  readonly by: "low" | "high";
  /** True of a message before which nobody looks. Absent: there is none. */
  readonly isFirst?: ((message: AgentMessage) => boolean) | undefined;
  /** What is shown of a message that is not the newest. Absent: all of it. */
  readonly shownOf?: ((message: AgentMessage) => AgentMessage) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Counts the newest messages, while others have their turn. What is counted once is remembered: who
 * plans with a `counter` afterwards is done at once.
 */
export async function countAhead({ signal, ...request }: AheadRequest): Promise<void> {
  const { messages, contextWindow, most, by, isFirst, shownOf = (message) => message } = request;
  const newest = newestFrom(messages);
  const slices = createSlices({ signal });
  let tokens = 0;
  for (let at = messages.length - 1; at >= 0 && tokens <= most; at--) {
    const message = messages[at]!;
    const shown = at < newest ? shownOf(message) : message;
    const steps = estimateMessageSteps(asShown(shown, contextWindow));
    let step = steps.next();
    while (!step.done) {
      if (slices.isOver()) await slices.next();
      step = steps.next();
    }
    tokens += step.value[by];
    if (isFirst?.(message)) return;
  }
}

/** Index of the newest message that is no result: what came since is looked at as a whole. */
export const newestFrom = (messages: readonly AgentMessage[]): number =>
  Math.max(
    0,
    messages.findLastIndex(({ role }) => role !== "toolResult"),
  );

/** Of all of them. */
export function sum(messages: readonly AgentMessage[], count: Count): TokenEstimate {
  let [estimate, low, high] = [0, 0, 0];
  for (const message of messages) {
    const one = count(message);
    estimate += one.estimate;
    low += one.low;
    high += one.high;
  }
  return { estimate, low, high };
}
