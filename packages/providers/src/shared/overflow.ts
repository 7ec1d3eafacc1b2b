// Decides whether a failure or a reply means that the prompt did not fit.
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import { promptTokensOf } from "@clew/plugin-sdk/host";
import {
  ACTION_WORD,
  FALLBACK_PATTERNS,
  HINT_PATTERNS,
  NEVER_OVERFLOW,
  OBSERVED_TOKEN_PATTERNS,
  OVERFLOW_PATTERNS,
  OVERFLOW_STATUSES,
  PROMPT_TOKEN_PATTERNS,
  REPLY_WORDS,
  REQUEST_CEILING,
  SIGNAL_WORD,
  WINDOW_PATTERNS,
} from "./overflow-patterns.ts";

/**
 * Characters of a text that are looked at: providers say it early, and an error may echo the
 * request.
 */
const SCAN_LIMIT = 4000;

/** True when the status or the words tell of an overflow. */
export function isOverflow(input: { text: string; status?: number }): boolean {
  const text = input.text.slice(0, SCAN_LIMIT);
  const says = (patterns: readonly RegExp[]) => patterns.some((pattern) => pattern.test(text));
  if (says(NEVER_OVERFLOW)) return false;
  if (input.status !== undefined && OVERFLOW_STATUSES.includes(input.status)) return true;
  const fallback = () =>
    says(FALLBACK_PATTERNS) && SIGNAL_WORD.test(text) && ACTION_WORD.test(text);
  return says(OVERFLOW_PATTERNS) || fallback() || says(HINT_PATTERNS);
}

/**
 * True when the account may never send so many tokens at once: waiting does not help, and neither
 * does a larger window.
 */
export function isRequestCeiling(text: string): boolean {
  const [, limit, requested] = REQUEST_CEILING.exec(text.slice(0, SCAN_LIMIT)) ?? [];
  return (
    limit !== undefined &&
    requested !== undefined &&
    toNumber(requested) > toNumber(limit) &&
    /tokens[ _]per|\bTPM\b/i.test(text)
  );
}

/** The tokens the provider counted, when its words state them. */
export function observedTokens(text: string): number | undefined {
  const said = text.slice(0, SCAN_LIMIT);
  for (const pattern of OBSERVED_TOKEN_PATTERNS) {
    const numbers = pattern.exec(said)?.slice(1).map(toNumber) ?? [];
    if (numbers.length > 0) return numbers.reduce((sum, value) => sum + value, 0);
  }
  return undefined;
}

/** The tokens of the prompt alone, when the provider's words state them. */
export function promptTokens(text: string): number | undefined {
  const said = text.slice(0, SCAN_LIMIT);
  for (const pattern of PROMPT_TOKEN_PATTERNS) {
    const [, tokens] = pattern.exec(said) ?? [];
    if (tokens !== undefined) return toNumber(tokens);
  }
  return REPLY_WORDS.test(said) ? undefined : observedTokens(said);
}

/** No model holds so little: such a number means something else. */
const LEAST_WINDOW = 1024;

/** The tokens the model holds, when the provider's words state them and they can be true. */
export function namedWindow(text: string): number | undefined {
  const said = text.slice(0, SCAN_LIMIT);
  const numbers = WINDOW_PATTERNS.map((pattern) => toNumber(pattern.exec(said)?.[1] ?? ""));
  const named = numbers.find((tokens) => tokens >= LEAST_WINDOW);
  const observed = observedTokens(said);
  return named !== undefined && (observed === undefined || observed > named) ? named : undefined;
}

/**
 * The prompt's tokens when a reply that looks complete tells by its usage that the prompt did not
 * fit: more prompt tokens than the window holds (z.ai), or a window that is full and no reply
 * (MiMo). Undefined for a sound reply.
 */
export function silentOverflow(
  message: AssistantMessage,
  contextWindow: number,
): number | undefined {
  if (message.usage === undefined) return undefined;
  const { output } = message.usage;
  const prompt = promptTokensOf(message.usage);
  const ignored = message.stopReason === "stop" && prompt > contextWindow;
  const noRoom = message.stopReason === "length" && output === 0 && prompt >= 0.99 * contextWindow;
  return ignored || noRoom ? prompt : undefined;
}

const toNumber = (digits: string) => Number(digits.replace(/[,_]/g, ""));
