// Decides which messages a model is shown as they are, and where a cut is due.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { planContextSize, type WaterSettings } from "@clew/plugin-sdk/host";
import type { TokenEstimate } from "@clew/plugin-sdk/tokens";
import { atomicGroups, recordRoomOf } from "@clew/plugin-sdk/transcript";
import { nameOf } from "../messages/name.ts";
import { type Part, type Parts, shortened } from "../messages/shorten.ts";
import { type Count, newestFrom, sum } from "./count.ts";
import type { CountedRequest } from "./counted.ts";

/** A place in a history before which a record stands for everything. */
export interface Cut {
  /** Name of the first message behind the record. */
  readonly first: string;
  /**
   * It holds under budgets whose high mark is at most this, in tokens: one that was made in need is
   * forgotten when there is room again. Infinity: it was asked for, and holds.
   */
  readonly ceiling: number;
  /** Of the record, and of the request that is shown behind it. */
  readonly tokens: Pick<TokenEstimate, "estimate" | "high">;
  /** What is shown of messages that had no room as they are. */
  readonly parts: Parts;
}

/** What there is to choose from. */
export interface PlanInput<Known extends Cut> {
  /** Oldest first. */
  readonly messages: readonly AgentMessage[];
  /** Tokens; Infinity = no limit is known. */
  readonly budget: number;
  /** By the name of their first message. */
  readonly cuts: ReadonlyMap<string, Known>;
  readonly count: Count;
  /** Tokens of a record that its lines of the past take. Absent: it has none. */
  readonly past?: number | undefined;
  /** What an operator says of the marks. Absent: nothing. */
  readonly water?: WaterSettings | undefined;
  /** The newest request that a provider counted. Absent: none is known. */
  readonly newest?: CountedRequest | undefined;
}

/** What to show; `high`: tokens that it does not exceed. */
export type ViewPlan<Known extends Cut> =
  /** Everything, untouched. */
  | { readonly kind: "whole"; readonly high: number }
  /** A record that stands already, and the messages from `from` on. */
  | KeptView<Known>
  /** A new record, and the messages from `from` on. */
  | NewCut;

/** A view behind a cut that stands already. */
export interface KeptView<Known extends Cut> {
  readonly kind: "kept";
  readonly cut: Known;
  readonly from: number;
  readonly high: number;
}

/** A cut that is due. */
export interface NewCut {
  readonly kind: "cut";
  readonly from: number;
  /** See `Cut`. */
  readonly ceiling: number;
}

/**
 * Of the budget: a view may fill as much before it is cut. This engine is asked before every call,
 * so it keeps no room for the next one; what is read from caches grows with what a view may hold.
 * Where a host asks once per turn, what the turn brings is compacted when it is too much.
 */
const FULL = 0.97;
/** Tokens of the largest budget that is filled; more of a larger window tells too little. */
const LARGEST = 128_000;

/** A cut holds until the high mark is this many times as high as when it was made. */
export const OUTGROWN = 1.5;

/** True: it was made, by itself, for more room than a host has now and then beside the other. */
export const isForMore = (ceiling: number, other: number): boolean =>
  ceiling !== Infinity && ceiling > OUTGROWN * other;

/**
 * Below the high mark the history is shown as it is: as a whole, or from the newest cut on. Above
 * it a new cut leaves as much as the low mark allows, so that the beginning of the view changes
 * rarely. Reads the history from its end, no further than the budget reaches.
 */
export function planView<Known extends Cut>(input: PlanInput<Known>): ViewPlan<Known> {
  const { messages, budget, count } = input;
  if (messages.length === 0) return { kind: "whole", high: 0 };
  const marks = marksOf(input);
  const { from, cut, tokens } = reach(input, marks.high);
  const high = highOf(input, { from, tokens });
  const fits = high <= budget;
  const asItIs =
    cut === undefined
      ? { kind: "whole" as const, high }
      : { kind: "kept" as const, cut, from, high };
  if (fits && (tokens.estimate <= marks.high || !isWorthCutting(input, tokens.estimate)))
    return asItIs;
  const next = planCut({
    ...{ messages, count, budget, past: input.past },
    ...{ low: marks.low, ceiling: OUTGROWN * marks.high },
  });
  // The same place again: only showing less of it could help, and only where it has to.
  return next.from > from || !fits ? next : asItIs;
}

/**
 * The newest request showed all of this up to its reply, and more besides: unless a newer cut stood
 * then, under another budget.
 */
function highOf<Known extends Cut>(
  { messages, cuts, count, newest }: PlanInput<Known>,
  { from, tokens }: { from: number; tokens: TokenEstimate },
): number {
  if (newest === undefined || newest.reply < from) return tokens.high;
  // One at the reply itself, or behind it, was made after it.
  const before = messages.slice(from + 1, newest.reply);
  const isCutLater = before.some((message) => cuts.has(nameOf(message)));
  if (isCutLater) return tokens.high;
  const since = sum(messages.slice(newest.reply), count).high;
  return Math.min(tokens.high, Math.max(tokens.low, Math.ceil(newest.tokens) + since));
}

/**
 * The newest cut that holds, where it and what came since are below the high mark. Undefined: they
 * are not, or there is none. Reads nothing before the cut, and no further than the budget reaches.
 */
export function planFromCut<Known extends Cut>(
  input: PlanInput<Known>,
): KeptView<Known> | undefined {
  if (input.cuts.size === 0 || input.messages.length === 0) return undefined;
  const marks = marksOf(input);
  const { from, cut, tokens } = reach(input, marks.high);
  const isBelow = tokens.high <= input.budget && tokens.estimate <= marks.high;
  return cut !== undefined && isBelow ? { kind: "kept", cut, from, high: tokens.high } : undefined;
}

/** A cut that leaves what `low` allows beside a record, at least the newest exchange. */
export function planCut({
  messages,
  count,
  budget,
  low,
  ceiling,
  past = 0,
}: Pick<PlanInput<Cut>, "messages" | "count" | "budget" | "past"> & {
  /** Tokens. */
  low: number;
  ceiling: number;
}): NewCut {
  const room = recordRoomOf(budget);
  const tail = low - room.ledger - room.anchors - room.pins - past;
  const groups = atomicGroups(messages);
  let from = groups.at(-1)?.start ?? 0;
  let [estimate, high] = [0, 0];
  for (const { start, end } of groups.toReversed()) {
    const tokens = sum(messages.slice(start, end), count);
    estimate += tokens.estimate;
    high += tokens.high;
    if (estimate > tail || high > budget) break;
    from = start;
  }
  return { kind: "cut", from, ceiling };
}

/** Both in tokens; a budget that is no number leaves nothing. */
export function marksOf({
  budget,
  messages,
  count,
  water: settings,
}: Pick<PlanInput<Cut>, "budget" | "messages" | "count" | "water">) {
  if (budget === Infinity) return { high: Infinity, low: Infinity };
  const { high, low } = sizeOf({
    budget,
    estimate: 0,
    newestTokens: sum(messages.slice(newestFrom(messages)), count).estimate,
    water: settings,
  }).water;
  if (settings?.highWaterTokens !== undefined) return { high, low };
  return { high: Math.max(high, Math.floor(FULL * Math.min(budget, LARGEST))), low };
}

const sizeOf = ({
  budget,
  estimate,
  newestTokens = 0,
  calls,
  water,
}: {
  budget: number;
  estimate: number;
  newestTokens?: number;
  calls?: number;
  water?: WaterSettings | undefined;
}) =>
  planContextSize({
    ...{ water },
    contextWindow: budget,
    reserveTokens: 0,
    fixedTokens: 0,
    messages: { estimate, counted: null },
    newestTokens,
    ...(calls !== undefined && { pace: { calls, growthTokens: 0 } }),
  });

/** False: the session is so short that the rewrite would cost more than it saves. */
function isWorthCutting({ budget, messages }: PlanInput<Cut>, estimate: number): boolean {
  const calls = messages.filter(({ role }) => role === "assistant").length;
  return sizeOf({ budget, estimate, calls }).verdict !== "unpaid";
}

/** A place to show a history from, and the tokens from there on; no cut = the beginning. */
export interface Reached<Known extends Cut> {
  readonly from: number;
  readonly cut: Known | undefined;
  readonly tokens: TokenEstimate;
}

/**
 * The newest cut that holds here, or the beginning. One that was made for far more room counts only
 * where none was made for this one: who looks once with more changes nothing.
 */
export function reach<Known extends Cut>(
  {
    messages,
    budget,
    cuts,
    count,
    newest,
  }: Pick<PlanInput<Known>, "messages" | "budget" | "cuts" | "count" | "newest">,
  highMark: number,
): Reached<Known> {
  const holding = new Map([...cuts].filter(([, { ceiling }]) => ceiling >= highMark));
  const parts = partsOf(holding);
  let [estimate, low, high] = [0, 0, 0];
  let forMore: Reached<Known> | undefined;
  for (let from = messages.length - 1; from >= 0; from--) {
    const message = messages[from]!;
    const name = holding.size === 0 ? undefined : nameOf(message);
    const part = name === undefined ? undefined : parts.get(name);
    const tokens = count(part === undefined ? message : shortened(message, part));
    estimate += tokens.estimate;
    low += tokens.low;
    high += tokens.high;
    const cut = name === undefined ? undefined : holding.get(name);
    if (cut !== undefined) {
      const kept =
        parts.size === 0 ? { estimate, low, high } : keptBy(cut, messages.slice(from), count);
      const of = {
        ...kept,
        estimate: kept.estimate + cut.tokens.estimate,
        high: kept.high + cut.tokens.high,
      };
      const reached = { from, cut, tokens: of };
      if (!isForMore(cut.ceiling, OUTGROWN * highMark)) return reached;
      forMore ??= reached;
    }
    // Where a request was counted, what is shown may take less than its bounds say.
    const least = newest === undefined && forMore === undefined ? high : low;
    if (least > budget) break;
  }
  if (forMore !== undefined) return forMore;
  // On another branch the cut that shortened a message may not stand.
  const isAll = parts.size === 0 || (newest === undefined ? high : low) > budget;
  const tokens = isAll ? { estimate, low, high } : sum(messages, count);
  return { from: 0, cut: undefined, tokens };
}

/** The least that any cut shows of a message, so that none is passed by before it is met. */
export function partsOf(cuts: ReadonlyMap<string, Cut>): Parts {
  const least = new Map<string, Part>();
  for (const { parts } of cuts.values())
    for (const [name, part] of parts)
      if (part.chars <= (least.get(name)?.chars ?? Infinity)) least.set(name, part);
  return least;
}

const keptBy = ({ parts }: Cut, kept: readonly AgentMessage[], count: Count) =>
  sum(
    kept.map((message) => {
      const part = parts.size === 0 ? undefined : parts.get(nameOf(message));
      return part === undefined ? message : shortened(message, part);
    }),
    count,
  );

/** The newest request, where it is older than what is shown; -1 = it is among that. */
export function requestBefore(messages: readonly AgentMessage[], from: number): number {
  const newest = messages.findLastIndex(({ role }) => role === "user");
  return newest < from ? newest : -1;
}
