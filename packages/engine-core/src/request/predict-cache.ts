// Predicts what of a request a provider's prompt cache gives back, and why not the rest.
import type { CacheReport, ReportItem } from "../report.ts";

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
  model: string;
  /** ms since the epoch. */
  now: number;
  tools: readonly ReportItem[];
  system: readonly ReportItem[];
  /** Leading messages that are what they were in the last request. */
  kept: number;
  /** Estimated tokens of those. */
  keptTokens: number;
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
): Pick<CacheReport, "predicted" | "broke"> {
  const { tools, system, tokenRatio, minTokens } = next;
  const nothing = (code: NonNullable<CacheReport["broke"]>["code"]) =>
    ({ predicted: 0, broke: { code } }) as const;
  const isKnown = before?.wasRead === true && before.model === next.model;
  if (next.cache === "none" && !isKnown) return nothing("not-cached");
  if (next.cache === "not-asked") return nothing("not-asked");
  if (before === undefined) return nothing("first-call");
  if (before.model !== next.model) return nothing("model-changed");
  if (before.keptMs !== null && next.now - before.at > before.keptMs) return nothing("expired");
  if (!isSame(before.tools, tools)) return nothing("tools-changed");
  const predicted = (tokens: number) => {
    const rounded = Math.round(tokens);
    return rounded < (minTokens ?? 0) ? 0 : rounded;
  };
  const ofTools = tokenRatio * sum(tools);
  if (!isSame(before.system, system))
    return { predicted: predicted(ofTools), broke: { code: "system-changed" } };
  const fixed = ofTools + tokenRatio * sum(system);
  const tokens = predicted(fromCount(before, next, fixed) ?? fixed + tokenRatio * next.keptTokens);
  if (next.kept < before.messages)
    return { predicted: tokens, broke: { code: "messages-changed", at: next.kept } };
  return tokens === 0 ? nothing("too-small") : { predicted: tokens };
}

/**
 * What is kept of the request as its provider counted it, which is more than its texts tell where
 * thinking went back encrypted. Null: nothing was counted.
 */
function fromCount(
  { counted, messageTokens }: SentRequest,
  { keptTokens }: NextRequest,
  fixed: number,
): number | null {
  if (counted === null) return null;
  if (keptTokens >= messageTokens) return counted;
  const ofMessages = Math.max(0, counted - fixed);
  return Math.min(counted, fixed) + ofMessages * (keptTokens / messageTokens);
}

const isSame = (before: readonly string[], items: readonly ReportItem[]): boolean =>
  before.length === items.length && before.every((hash, at) => hash === items[at]!.hash);

const sum = (items: readonly ReportItem[]): number =>
  items.reduce((total, { tokens }) => total + tokens, 0);
