// Predicts what of a request a provider's prompt cache gives back, and why not the rest.

import type { ReportItem } from "../report/item.ts";
import type { CacheReport } from "../report/model-call.ts";

/** The session's last request that was answered. */
export interface SentRequest {
  /** "provider/model", and the account that was asked. */
  model: string;
  /** When it was answered, ms since the epoch. */
  at: number;
  /** How long it is kept, ms; null = not known. */
  keptMs: number | null;
  /** Hashes, in order. */
  tools: readonly string[];
  /** Likewise. */
  system: readonly string[];
  /** Messages it held. */
  messages: number;
  /** Estimated tokens of those. */
  messageTokens: number;
  /** Tokens of all of it, as its provider counted them; null = it did not. */
  counted: number | null;
  /** True: since the session was opened its provider billed something as read from a cache. */
  wasRead: boolean;
  /** The provider's id of its answer; undefined = it gave none. */
  responseId: string | undefined;
}

/** The request about to be sent. */
export interface NextRequest {
  /** "provider/model", and the account that is asked. */
  model: string;
  /** ms since the epoch. */
  now: number;
  /** In order. */
  tools: readonly ReportItem[];
  /** Likewise. */
  system: readonly ReportItem[];
  /** Leading messages that are what they were in the last request. */
  kept: number;
  /** Estimated tokens of those. */
  keptTokens: number;
  /** Of the messages behind them those that stood in the last request too, estimated. */
  movedTokens: number;
  /** Measured / estimated tokens of this model. */
  tokenRatio: number;
  /** What is asked of the cache, or why nothing comes of it; "none" until something was read. */
  cache: "asked" | "not-asked" | "none";
  /** Shortest prefix that is kept, tokens; null = not known. */
  minTokens: number | null;
}

/** Providers read tools first, then the system prompt, then the messages. */
export function predictCache(
  before: SentRequest | undefined,
  next: NextRequest,
): Pick<CacheReport, "predicted" | "broke" | "repeated"> {
  const { minTokens } = next;
  const nothing = (code: NonNullable<CacheReport["broke"]>["code"]) =>
    ({ predicted: 0, broke: { code } }) as const;
  const isKnown = before?.wasRead === true && before.model === next.model;
  if (next.cache === "none" && !isKnown) return nothing("not-cached");
  if (next.cache === "not-asked") return nothing("not-asked");
  if (before === undefined) return nothing("first-call");
  if (before.model !== next.model) return nothing("model-changed");
  const { first, moved, change } = planRepeated(before, next);
  const repeated = { first, moved };
  if (before.keptMs !== null && next.now - before.at > before.keptMs)
    return { ...nothing("expired"), repeated };
  const predicted = first < (minTokens ?? 0) ? 0 : first;
  if (change !== null) return { predicted, broke: change, repeated };
  return predicted === 0 ? nothing("too-small") : { predicted };
}

/** What of a request stood the same in the model's last one. */
export interface Repeated extends NonNullable<CacheReport["repeated"]> {
  /** Null: all of the last request, so nothing is moved. */
  change: NonNullable<CacheReport["broke"]> | null;
}

/**
 * Pure. Tokens that were sent before: what of them no cache gives back is paid again, and what is
 * new is not. They are shares of what the provider counted, where it did, which is more than the
 * texts tell where thinking went back encrypted.
 */
export function planRepeated(
  before: SentRequest,
  { tools, system, kept, keptTokens, movedTokens, tokenRatio }: Omit<NextRequest, "model" | "now">,
): Repeated {
  const { counted, messageTokens } = before;
  const ofTools = tokenRatio * sum(tools);
  const ofSystem = tokenRatio * sum(system);
  const fixed = ofTools + ofSystem;
  /** Of the last request's messages. */
  const inMessages = (tokens: number) => {
    if (counted === null) return tokenRatio * tokens;
    const share = messageTokens === 0 ? 0 : Math.min(1, tokens / messageTokens);
    return Math.max(0, counted - fixed) * share;
  };
  const inFixed = (tokens: number) => (counted === null ? tokens : Math.min(counted, tokens));
  const messages = inMessages(keptTokens + movedTokens);
  const isSystem = isSame(before.system, system);
  if (!isSame(before.tools, tools)) {
    const moved = Math.round(inFixed(isSystem ? ofSystem : 0) + messages);
    return { first: 0, moved, change: { code: "tools-changed" } };
  }
  if (!isSystem) {
    const change = { code: "system-changed" } as const;
    return { first: Math.round(inFixed(ofTools)), moved: Math.round(messages), change };
  }
  const isWhole = counted !== null && keptTokens >= messageTokens;
  const first = Math.round(isWhole ? counted : inFixed(fixed) + inMessages(keptTokens));
  if (kept >= before.messages) return { first, moved: 0, change: null };
  const moved = Math.round(messages - inMessages(keptTokens));
  return { first, moved, change: { code: "messages-changed", at: kept } };
}

const isSame = (before: readonly string[], items: readonly ReportItem[]): boolean =>
  before.length === items.length && before.every((hash, at) => hash === items[at]!.hash);

const sum = (items: readonly ReportItem[]): number =>
  items.reduce((total, { tokens }) => total + tokens, 0);
