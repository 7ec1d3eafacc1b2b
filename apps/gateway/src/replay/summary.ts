// Sums up a replay in totals and a table.
import { addCosts, type Cost } from "../costs/cost.ts";
import { dollarsText } from "../costs/describe.ts";
import type { CallRow } from "../inspect/shapes/calls.ts";
import type { FateCounts } from "../inspect/shapes/entries.ts";
import { formatTable } from "../terminal/table.ts";
import { counted } from "../text/number.ts";
import type { ReplayedCall, ReplayResult } from "./run-replay.ts";

export interface ReplaySummary {
  turns: number;
  calls: number;
  callsNotMade: number;
  /** Estimated tokens of calls. */
  tokens: { median: number; p90: number; max: number; total: number };
  /** Entries that a model could not read; each number is the most of any call. */
  fates: {
    /** Calls in which not every entry was shown. */
    calls: number;
    notShown: number;
    summary: number;
    cleared: number;
    leftOut: number;
  };
  callsOverBudget: number;
  /** What all calls would cost, by kind, in dollars; null = the prices are not known. */
  cost: Cost | null;
  /** Of all tokens, what the provider's cache would give, as predicted. */
  fromCache: number;
  compactions: number;
  failures: ReplayResult["failures"];
  engine: ReplayResult["engine"];
  /** ms. */
  time: { total: number; enginePerCall: number; hostPerCall: number };
}

/** A call, and what the inspector says became of the session's entries in it. */
export interface FatedCall extends ReplayedCall {
  /** As the inspector names it. */
  id: string;
  fates: FateCounts;
}

/** A replay whose session was looked at afterwards. */
export type InspectedReplay = Omit<ReplayResult, "calls"> & { calls: readonly FatedCall[] };

/** Pure. `rows`: of all model calls of the session, in order. */
export const withFates = (result: ReplayResult, rows: readonly CallRow[]): InspectedReplay => ({
  ...result,
  calls: result.calls.map((call) => {
    const { id, fates } = rows[call.place]!;
    return { ...call, id, fates };
  }),
});

/** Pure. */
export function summarizeReplay({
  turns,
  calls,
  callsNotMade,
  failures,
  engine,
  compactions,
  time,
}: InspectedReplay): ReplaySummary {
  const tokens = calls.map((call) => call.tokens);
  const msPerCall = (ms: number) => round(calls.length === 0 ? 0 : ms / calls.length);
  return {
    turns,
    calls: calls.length,
    callsNotMade,
    tokens: {
      median: quantile(tokens, 0.5),
      p90: quantile(tokens, 0.9),
      max: Math.max(0, ...tokens),
      total: tokens.reduce((a, b) => a + b, 0),
    },
    fates: {
      calls: calls.filter((call) => notShown(call) > 0).length,
      notShown: highest(calls.map(notShown)),
      summary: highest(calls.map(({ fates }) => fates.summary)),
      cleared: highest(calls.map(({ fates }) => fates.cleared)),
      leftOut: highest(calls.map(({ fates }) => fates.leftOut)),
    },
    callsOverBudget: calls.filter((call) => call.isOverBudget).length,
    cost: costOfCalls(calls),
    fromCache: calls.reduce((sum, call) => sum + call.fromCache, 0),
    compactions,
    failures,
    engine,
    time: {
      total: round(time.total),
      enginePerCall: msPerCall(time.engine),
      hostPerCall: msPerCall(time.host),
    },
  };
}

function costOfCalls(calls: readonly ReplayedCall[]): Cost | null {
  const costs = calls.flatMap(({ cost }) => (cost === null ? [] : [cost]));
  return costs.length < calls.length ? null : addCosts(costs);
}

const MAX_ROWS = 20;

/** Pure. One row per range of turns, then the totals. */
export function formatReplay(result: InspectedReplay): string {
  const summary = summarizeReplay(result);
  const size = Math.max(1, Math.ceil(result.turns / MAX_ROWS));
  const rows = Array.from({ length: Math.ceil(result.turns / size) }, (_, range) => {
    const [from, to] = [range * size + 1, Math.min(result.turns, (range + 1) * size)];
    const calls = result.calls.filter(({ turn }) => turn >= from && turn <= to);
    return formatRow(from === to ? `${from}` : `${from}–${to}`, calls);
  });
  const total = formatRow("all", result.calls);
  const headings = [
    "turns",
    "calls",
    "tokens per call",
    "most",
    "messages",
    "in summaries",
    "cleared",
    "left out",
    "would cost",
  ];
  return [formatTable(headings, [...rows, total]), "", ...totals(summary)].join("\n");
}

function formatRow(range: string, calls: readonly FatedCall[]): string[] {
  const tokens = calls.map((call) => call.tokens);
  const most = (values: number[]) => format(Math.max(0, ...values));
  return [
    range,
    format(calls.length),
    format(perCall(tokens)),
    most(tokens),
    most(calls.map((call) => call.messages)),
    most(calls.map(({ fates }) => fates.summary)),
    most(calls.map(({ fates }) => fates.cleared)),
    most(calls.map(({ fates }) => fates.leftOut)),
    dollarsOf(costOfCalls(calls)),
  ];
}

const dollarsOf = (cost: Cost | null): string =>
  cost === null ? "not known" : dollarsText(cost.total);

/** In a session of which the provider keeps what it can. */
function costText({ cost, fromCache, tokens, calls }: ReplaySummary): string {
  const share = tokens.total === 0 ? 0 : Math.round((100 * fromCache) / tokens.total);
  if (cost === null)
    return `What the calls would cost is not known: the model has no prices (models[].cost of its server, or another --model). ${share} % of the tokens would come from its cache.`;
  if (cost.total === 0)
    return `The calls would cost nothing, as the model is free. ${share} % of the tokens would come from a provider's cache.`;
  return `The calls would cost ${dollarsText(cost.total)}${calls > 1 ? `, ${dollarsText(cost.total / calls)} each` : ""}: ${share} % of the tokens would come from the provider's cache.`;
}

function totals(summary: ReplaySummary): string[] {
  const {
    turns,
    calls,
    callsNotMade,
    tokens,
    fates,
    callsOverBudget,
    compactions,
    failures,
    engine,
    time,
  } = summary;
  return [
    `${counted(turns, "turn")}, ${counted(calls, "call")}, ${format(tokens.total)} tokens sent (${format(perCall([tokens.total], calls))} per call, 90 % of them below ${format(tokens.p90)}).`,
    ...(calls === 0 ? [] : [costText(summary)]),
    fates.calls === 0
      ? "Nothing was left out."
      : `Not every entry was shown in ${counted(fates.calls, "call")}: at most ${format(fates.summary)} stood in summaries, ${format(fates.cleared)} were cleared, ${format(fates.leftOut)} left out.`,
    ...(callsOverBudget > 0
      ? [`${counted(callsOverBudget, "call")} exceeded the prompt budget.`]
      : []),
    ...(compactions > 0 ? [`${counted(compactions, "compaction")}.`] : []),
    ...(callsNotMade > 0
      ? [
          `Not made, because their turn had failed: ${counted(callsNotMade, "recorded call")}; ${failures[0]?.reason ?? ""}`,
        ]
      : []),
    `Engine ${engine.ran}${engine.degraded === null ? "" : ` (set aside: ${engine.degraded.operation}: ${engine.degraded.reason})`}: ${time.enginePerCall} ms per call, host ${time.hostPerCall} ms per call, ${(time.total / 1000).toFixed(1)} s in all.`,
  ];
}

const notShown = ({ fates }: FatedCall): number => fates.all - fates.shown;

const highest = (values: readonly number[]): number => Math.max(0, ...values);

/** Pure. Tokens divided by calls, to the nearest whole one; 0 of none. What “per call” means. */
export function perCall(tokens: readonly number[], calls: number = tokens.length): number {
  const sum = tokens.reduce((total, one) => total + one, 0);
  return calls === 0 ? 0 : Math.round(sum / calls);
}

/** The value below which the share `q` of `values` lies; 0 for none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;
}

const format = (value: number) => value.toLocaleString("en-US");
const round = (ms: number) => Math.round(ms * 100) / 100;
