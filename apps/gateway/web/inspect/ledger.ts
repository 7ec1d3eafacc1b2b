// Lays out what a call, its turn and its session had from a cache and cost.
import {
  formatCount,
  formatDollars,
  formatNumberOf,
  formatShare,
} from "../../src/conversation/format.ts";
import type { Usage, UsageSum } from "../../src/costs/usage.ts";
import { sentTokens } from "../../src/inspect/sent-tokens.ts";
import type { CallPage, CallRow, CallWaste } from "../../src/inspect/shapes/calls.ts";
import { shortName } from "../../src/sessions/keys.ts";

export interface LedgerLine {
  label: string;
  call: string;
  turn: string;
  /** Of its own, without the sessions that it started. */
  session: string;
  /** With those; "" where the session has none. */
  family: string;
}

export interface Sums {
  output: number;
  /** Of the calls that tell; null = none does. */
  cacheRead: number | null;
  /** Sent in those that tell. */
  cacheOf: number;
  /** Null: no call's price is known. */
  cost: number | null;
  /** Of it for side calls. */
  sides: number;
  /** Calls whose price is not known; they are not in `cost`. */
  unpriced: number;
  /** Turns, or lines of the record, that nobody can read: they are in none of it. Absent: none. */
  untold?: number;
}

/** Pure. */
export function sumOf(rows: readonly CallRow[]): Sums {
  const sums: Sums = {
    ...{ output: 0, cacheRead: null, cacheOf: 0 },
    ...{ cost: null, sides: 0, unpriced: 0 },
  };
  for (const { tokens, outputTokens, cache, cost } of rows) {
    sums.output += outputTokens ?? 0;
    if (cache !== null && cache.read !== null) {
      sums.cacheRead = (sums.cacheRead ?? 0) + cache.read;
      sums.cacheOf += tokens.total;
    }
    if (cost === null) sums.unpriced++;
    else {
      sums.cost = (sums.cost ?? 0) + cost.total;
      sums.sides += cost.summariser;
    }
  }
  return sums;
}

/** What a session came to, and with the sessions that it started. */
export interface SessionUsage {
  /** Null: it asked no model. */
  own: UsageSum | null;
  /** How many it started, or they did. */
  others: number;
  /** With those. */
  all: UsageSum;
}

/** Pure. As `clew usage` tells it, line by line and in all. */
export function usageOf(
  { total, sessions }: Pick<Usage, "total" | "sessions">,
  key: string,
): SessionUsage {
  const own = sessions.find(({ name }) => shortName(name) === shortName(key));
  const others = sessions.length - (own === undefined ? 0 : 1);
  return { own: own ?? (others === 0 ? total : null), others, all: total };
}

/** Pure. */
export function sumOfUsage(
  { modelCalls, unknown, unended, tokens, cost }: UsageSum,
  untold: Pick<Usage["untold"], "turns" | "lines">,
): Sums {
  const prompt = promptOf(tokens);
  return {
    ...{ output: tokens.output, cacheRead: prompt === 0 ? null : tokens.cacheRead },
    ...{ cacheOf: prompt, cost: modelCalls === unknown ? null : cost.total, unpriced: unknown },
    sides: cost.summariser,
    untold: untold.turns + untold.lines + unended,
  };
}

const promptOf = ({ input, cacheRead, cacheWrite }: UsageSum["tokens"]): number =>
  input + cacheRead + cacheWrite;

/** "with 2 subagents"; null = there are none. */
export const familyHeading = ({ others }: Pick<SessionUsage, "others">): string | null =>
  others === 0 ? null : `with ${formatNumberOf(others, "subagent")}`;

/**
 * Pure. `rows`: the session's, as far as they are read; `sums`: of all; `usage`: what all of it
 * came to, null = not known yet. Calls and what was sent are those of replies; model calls and
 * prompt tokens hold side calls and repeated tries, too.
 */
export function planLedger(
  row: CallRow,
  rows: readonly CallRow[],
  {
    key,
    usage,
    sums,
  }: {
    key: string;
    usage: Pick<Usage, "total" | "sessions" | "untold" | "unpaid"> | null;
    sums: CallPage["sums"];
  },
): LedgerLine[] {
  const ofTurn = rows.filter((each) => each.turn === row.turn);
  const [call, turn] = [sumOf([row]), sumOf(ofTurn)];
  const found = usage === null ? null : usageOf(usage, key);
  /** What is told of sessions only by `clew usage`. */
  const ofSessions = (word: (sum: UsageSum) => string) => ({
    session: found === null ? "…" : found.own === null ? "–" : word(found.own),
    family: found === null || found.others === 0 ? "" : word(found.all),
  });
  const line = (label: string, word: (sums: Sums) => string): LedgerLine => ({
    ...{ label, call: word(call), turn: word(turn) },
    ...ofSessions((sum) => word(sumOfUsage(sum, usage!.untold))),
  });
  const replies = (label: string, count: (rows: readonly CallRow[]) => number, all: number) => ({
    ...{ label, call: formatCount(count([row])), turn: formatCount(count(ofTurn)) },
    ...{ session: formatCount(all), family: "" },
  });
  const sent = (some: readonly CallRow[]) => some.reduce((sum, each) => sum + sentTokens(each), 0);
  const only = (label: string, word: (sum: UsageSum) => string) => ({
    ...{ label, call: "", turn: "" },
    ...ofSessions(word),
  });
  const waste =
    found === null
      ? []
      : wasteLines(found, { call: row.waste, turn: ofTurn.flatMap(({ waste }) => waste) });
  const sides = found === null ? [] : sideLine(found, { call: call.sides, turn: turn.sides });
  return [
    replies("calls", ({ length }) => length, sums.calls),
    replies("sent", sent, sums.sent),
    only("model calls", ({ modelCalls }) => formatCount(modelCalls)),
    only("prompt tokens", ({ tokens }) => formatCount(promptOf(tokens))),
    line("output", ({ output }) => formatCount(output)),
    line("from cache", describeShare),
    line(usage === null || usage.unpaid === null ? "cost" : "cost, not paid", describeCost),
    ...sides,
    ...waste,
  ];
}

/** What of the cost is that of summaries and the like; none where no such call was made. */
function sideLine(
  { own, others, all }: SessionUsage,
  rows: { call: number; turn: number },
): LedgerLine[] {
  if (all.sideCalls === 0 && rows.turn === 0) return [];
  const word = ({ sideCalls, cost }: UsageSum) =>
    `${formatDollars(cost.summariser)} in ${formatNumberOf(sideCalls, "call")}`;
  const dollars = (of: number) => (of === 0 ? "" : formatDollars(of));
  return [
    {
      ...{ label: "of it side calls", call: dollars(rows.call), turn: dollars(rows.turn) },
      ...{ session: own === null ? "–" : word(own), family: others === 0 ? "" : word(all) },
    },
  ];
}

/** What was paid for nothing, by cause. */
function wasteLines(
  { own, others, all }: SessionUsage,
  rows: { call: readonly CallWaste[]; turn: readonly CallWaste[] },
): LedgerLine[] {
  const line = (
    label: string,
    of: (sum: UsageSum) => { calls: number; dollars: number },
    cause: CallWaste["cause"],
  ): LedgerLine[] => {
    const ofRows = (some: readonly CallWaste[]) =>
      describeWaste(some.filter((one) => one.cause === cause));
    const [call, turn] = [ofRows(rows.call), ofRows(rows.turn)];
    if (of(all).calls === 0 && turn === "") return [];
    const word = (sum: UsageSum) =>
      `${of(sum).dollars === 0 ? "nothing" : formatDollars(of(sum).dollars)} in ${formatNumberOf(of(sum).calls, "call")}`;
    const session = own === null ? "–" : word(own);
    return [{ label, call, turn, session, family: others === 0 ? "" : word(all) }];
  };
  return [
    ...line("paid again, cache lost", ({ waste }) => waste.brokenPrefix, "broken-prefix"),
    ...line("paid again after a pause", ({ waste }) => waste.afterPause, "after-pause"),
    ...line("paid again, sent again", ({ waste }) => waste.resent, "re-sent"),
    ...line("paid for too large a call", ({ waste }) => waste.overFull, "over-full"),
  ];
}

/** "" where there is none. */
function describeWaste(waste: readonly CallWaste[]): string {
  if (waste.length === 0) return "";
  const known = waste.flatMap(({ dollars }) => (dollars === null ? [] : [dollars]));
  if (known.length === 0) return "not known";
  return formatDollars(known.reduce((sum, dollars) => sum + dollars, 0));
}

/** "61 %", or "not told". */
export const describeShare = ({ cacheRead, cacheOf }: Sums): string =>
  cacheRead === null ? "not told" : formatShare(cacheRead, cacheOf);

/** "$4.12", "at least $4.12 + 3 unpriced (1 cannot be told)", or "not known". */
export function describeCost({ cost, unpriced, untold = 0 }: Sums): string {
  if (cost === null) return "not known";
  const least = untold === 0 ? "" : "at least ";
  const missing = untold === 0 ? "" : ` (${untold} cannot be told)`;
  const more = unpriced === 0 ? "" : ` + ${unpriced} unpriced`;
  return `${least}${formatDollars(cost)}${more}${missing}`;
}
