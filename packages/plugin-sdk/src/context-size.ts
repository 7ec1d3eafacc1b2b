// How large a request is, and whether the context must, should or need not be compacted.
import { ESTIMATE_MARGIN, planBudget, type TokenBudget } from "./budget.ts";
import type { AgentMessage } from "./contract/message.ts";
import type { SessionPace } from "./pace.ts";
import { isRepaid } from "./repay.ts";
import type { Steps } from "./slices.ts";
import { estimateMessage } from "./tokens/message.ts";
import { capToolResultSteps } from "./transcript/tool-result-caps.ts";
import { planWater, type WaterMarks, type WaterSettings } from "./water.ts";

/** What is known of the tokens of a request's messages. */
export interface MessageTokens {
  /** Estimate of all of them. */
  estimate: number;
  /**
   * What a provider counted for a request that is the beginning of this one, its reply, system
   * prompt and tools included, and the estimate of the messages after it; null = nothing was
   * counted.
   */
  counted: { tokens: number; after: number } | null;
}

/** A request of which everything is known but how it will be counted. */
export interface ContextSizeInput {
  /** The model's, in tokens. */
  contextWindow: number;
  /** As configured; see `reserveOf`. */
  reserveTokens: number;
  /** Estimated tokens of system prompt and tool schemas; see `fixedTokensOf`. */
  fixedTokens: number;
  /** What would be sent; see `messageTokenSteps`. */
  messages: MessageTokens;
  /** Counted / estimated tokens of the model. Absent: 1. */
  tokenRatio?: number | undefined;
  /** What the engine says its messages take, tokens; null or absent = nothing. */
  engineEstimate?: number | null | undefined;
  /**
   * The history from which an engine chose, where it says that more than it chose may have to fit.
   * Absent: what would be sent is all there is.
   */
  unwindowed?: MessageTokens | undefined;
  /** Estimated tokens of the newest exchange, which every compaction keeps. Absent: 0. */
  newestTokens?: number | undefined;
  /** What the session's past says. Absent: that a compaction is always repaid. */
  pace?: SessionPace | undefined;
  /** What the operator says of the marks. Absent: nothing. */
  water?: WaterSettings | undefined;
}

/**
 * fits: nothing to do · unpaid: above the high mark, but the calls that can be expected do not
 * repay a compaction · full: compact · over: it does not fit.
 */
export type ContextVerdict = "fits" | "unpaid" | "full" | "over";

/** One request against one window. All numbers in tokens, as the model counts them. */
export interface ContextSize extends Omit<TokenBudget, "tokenBudget" | "fixedTokens"> {
  /** The whole request. */
  tokens: number;
  /** Of `tokens`: system prompt and tool schemas, which no compaction can shrink. */
  fixed: number;
  /** Of `tokens`: what a compaction can shrink. The marks are about this. */
  messages: number;
  /** "counted": by a provider, as far as it had seen it. "unwindowed": of more than is sent. */
  source: "counted" | "estimated" | "unwindowed";
  /** Tokens above the prompt budget; 0 = it fits. */
  overflow: number;
  /** When a compaction is due, and how far it goes. */
  water: WaterMarks;
  /** What follows from it all. */
  verdict: ContextVerdict;
}

/** Of the prompt budget: what is estimated to be less is not more, as a provider counts. */
const SURELY_FITS = 0.95;

/**
 * The one size: threshold, check before a request, recovery, built-in compaction, `/status` and
 * previews all ask here. The provider's count is taken where there is one and the model's ratio
 * corrects the rest, never the count. The one margin is on what is fixed, and an engine's budget
 * takes it off: an engine that fills its budget fits. What is no positive number counts as 0, a
 * ratio as 1.
 */
export function planContextSize(input: ContextSizeInput): ContextSize {
  const { reserveTokens, messages, unwindowed, pace } = input;
  const contextWindow = tokensOf(input.contextWindow);
  const { reserve, promptBudget } = planBudget({ contextWindow, reserveTokens });
  const ratio = tokensOf(input.tokenRatio) || 1;
  const fixed = Math.ceil(ESTIMATE_MARGIN * ratio * tokensOf(input.fixedTokens));
  const sent = wholeTokens(messages, fixed, ratio, tokensOf(input.engineEstimate));
  const all = unwindowed === undefined ? 0 : wholeTokens(unwindowed, fixed, ratio, 0);
  const tokens = Math.max(sent, all);
  // What a provider counted holds no margin: beside the messages it is what remains.
  const isCounted = messages.counted !== null && all <= sent;
  const beside = isCounted
    ? Math.min(fixed, Math.max(0, tokens - Math.ceil(ratio * tokensOf(messages.estimate))))
    : fixed;
  const shrinkable = Math.max(0, tokens - beside);
  const water = planWater({
    budget: promptBudget - fixed,
    settings: input.water,
    newestTokens: Math.ceil(ratio * tokensOf(input.newestTokens)),
    growthTokens: Math.ceil(ratio * tokensOf(pace?.growthTokens)),
  });
  const overflow = Math.max(0, tokens - promptBudget);
  const mayWait =
    tokens <= SURELY_FITS * promptBudget &&
    pace !== undefined &&
    !isRepaid({ before: shrinkable, after: water.low, calls: pace.calls });
  return {
    ...{
      contextWindow,
      reserve,
      promptBudget,
      tokens,
      fixed: tokens - shrinkable,
      messages: shrinkable,
    },
    source: all > sent ? "unwindowed" : messages.counted === null ? "estimated" : "counted",
    ...{ overflow, water },
    verdict:
      overflow > 0 ? "over" : shrinkable <= water.high ? "fits" : mayWait ? "unpaid" : "full",
  };
}

const wholeTokens = (
  { estimate, counted }: MessageTokens,
  fixed: number,
  ratio: number,
  engineEstimate: number,
) =>
  counted === null
    ? Math.ceil(Math.max(ratio * tokensOf(estimate), engineEstimate)) + fixed
    : tokensOf(counted.tokens) + Math.ceil(ratio * tokensOf(counted.after));

/** What is no positive number counts as nothing: engines and config files are asked for these. */
const tokensOf = (value: number | null | undefined): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;

/** A message on its way to the model, and what it is known by. */
export interface SizedMessage {
  /** The same for the same message in every view; undefined = it was made for this one. */
  readonly id: string | undefined;
  /** As stored: how much of it is shown is found out here. */
  readonly message: AgentMessage;
}

/** What sizes depend on besides the messages. */
export interface SizeOptions {
  /** Of the model, tokens. */
  contextWindow: number;
  /** What a provider counted, and of what. Absent: nothing. */
  counted?: { ids: readonly (string | undefined)[]; tokens: number } | undefined;
}

/**
 * The tokens of messages as a model of this window is shown them, long tool results shortened; in
 * steps, for a view that takes long. The count of an earlier request holds where `view` begins with
 * the messages that it counted, which are told by their ids, the reply's last.
 */
export function* messageTokenSteps(
  view: readonly SizedMessage[],
  { contextWindow, counted }: SizeOptions,
): Steps<MessageTokens> {
  const messages = view.map(({ message }) => message);
  const shown = yield* capToolResultSteps(messages, contextWindow);
  const isBeginning =
    counted !== undefined &&
    counted.ids.length > 0 &&
    counted.ids.every((id, index) => id !== undefined && view[index]?.id === id);
  const seen = isBeginning ? counted.ids.length : 0;
  let [estimate, after] = [0, 0];
  for (const [index, message] of shown.entries()) {
    yield;
    const tokens = estimateMessage(message).estimate;
    estimate += tokens;
    if (index >= seen) after += tokens;
  }
  return { estimate, counted: isBeginning ? { tokens: counted.tokens, after } : null };
}

/** Estimated tokens of the newest message that is no tool result, and of its results. */
export function newestTokensOf(messages: readonly AgentMessage[]): number {
  const from = messages.findLastIndex(({ role }) => role !== "toolResult");
  return messages
    .slice(Math.max(0, from))
    .reduce((total, message) => total + estimateMessage(message).estimate, 0);
}
