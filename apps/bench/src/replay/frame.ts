// What the whole history would take at each call of a session, and what no longer fits.

import { reserveOf } from "@clew/plugin-sdk/host";
import { capToolResults, ledgerRoomOf } from "@clew/plugin-sdk/transcript";
import { commonLength, costOf } from "./prices.ts";
import type { Script } from "./script.ts";
import type { Shown, ShownTable } from "./shown.ts";

/** One request that was sent, or that a control would send. */
export interface SentRequest {
  /** Place in the script's calls. */
  call: number;
  shown: readonly Shown[];
}

/** One call under a prompt budget. */
export interface FrameCall {
  /** Everything, as it would be sent in a window without end. */
  whole: readonly Shown[];
  /** The same with tool results no longer than this window allows. */
  full: readonly Shown[];
  /** Tokens of system prompt and tools. */
  fixedTokens: number;
  /** What sending everything costs, in units of one uncached input token. */
  all: number;
  /** True: the whole history no longer fits, so something had to be chosen. */
  isJudged: boolean;
  /** Needed names that the newest messages up to the budget no longer hold. */
  old: readonly number[];
}

/** A session under one prompt budget, whoever chooses what is sent. */
export interface Frame {
  script: Script;
  table: ShownTable;
  /** Tokens of system prompt, tools and messages. */
  promptBudget: number;
  /** The window that leaves this budget. */
  contextWindow: number;
  /** By place in the script's calls; undefined = the call was never made. */
  calls: readonly (FrameCall | undefined)[];
  /** Tokens a ledger may take. */
  ledgerRoom: number;
}

/** What was sent where everything fits: the history as the host and the wire's rules have it. */
export interface PassThrough {
  requests: readonly SentRequest[];
  fixedTokens: number;
}

export function planFrame(given: {
  script: Script;
  table: ShownTable;
  passThrough: PassThrough;
  promptBudget: number;
  reserveTokens: number;
}): Frame {
  const { script, table, passThrough, promptBudget } = given;
  const contextWindow = windowFor(promptBudget, given.reserveTokens);
  const { fixedTokens } = passThrough;
  const calls: (FrameCall | undefined)[] = script.calls.map(() => undefined);
  let before: readonly Shown[] = [];
  for (const { call, shown } of passThrough.requests) {
    const hit = tokensOf(shown.slice(0, commonLength(before, shown)));
    const all = costOf(hit, tokensOf(shown));
    before = shown;
    const { history, needed } = script.calls[call]!;
    const messages = shown.map(({ message }) => message);
    const capped = capToolResults(messages, contextWindow);
    const full = capped.map((message, at) =>
      message === messages[at] ? shown[at]! : table.of(message, history),
    );
    const isJudged = tokensOf(full) + fixedTokens > promptBudget;
    const old = isJudged ? notIn(newest(full, promptBudget), needed) : [];
    calls[call] = { whole: shown, full, fixedTokens, all, isJudged, old };
  }
  return {
    script,
    table,
    promptBudget,
    contextWindow,
    calls,
    ledgerRoom: ledgerRoomOf(promptBudget),
  };
}

/** The smallest window that leaves `promptBudget` tokens when the reserve is taken. */
export function windowFor(promptBudget: number, reserveTokens: number): number {
  let window = promptBudget;
  while (window - reserveOf(window, reserveTokens) < promptBudget)
    window += Math.max(1, promptBudget - (window - reserveOf(window, reserveTokens)));
  return window;
}

export const tokensOf = (shown: readonly Shown[]): number =>
  shown.reduce((sum, { tokens }) => sum + tokens, 0);

/** The newest messages, as many as `tokens` hold. */
function newest(shown: readonly Shown[], tokens: number): readonly Shown[] {
  let start = shown.length;
  for (let left = tokens; start > 0 && shown[start - 1]!.tokens <= left; start--)
    left -= shown[start - 1]!.tokens;
  return shown.slice(start);
}

function notIn(shown: readonly Shown[], names: readonly number[]): readonly number[] {
  const present = namesIn(shown);
  return names.filter((name) => !present.has(name));
}

export function namesIn(shown: readonly Shown[]): ReadonlySet<number> {
  const present = new Set<number>();
  for (const { named } of shown) for (const name of named) present.add(name);
  return present;
}
