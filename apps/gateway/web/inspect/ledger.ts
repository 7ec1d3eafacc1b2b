// Lays out what a call, its turn and the whole session sent, had from a cache and cost.
import type { Usage } from "../../src/costs/usage.ts";
import { sentTokens } from "../../src/inspect/sent-tokens.ts";
import type { CallRow, CallWaste } from "../../src/inspect/shapes.ts";
import { formatCount, formatDollars, formatNumberOf, formatShare } from "../format.ts";

export interface LedgerLine {
  label: string;
  call: string;
  turn: string;
  session: string;
}

export interface Sums {
  calls: number;
  sent: number;
  output: number;
  /** Of the calls that tell; null = none does. */
  cacheRead: number | null;
  /** Sent in those that tell. */
  cacheOf: number;
  /** Null: no call's price is known. */
  cost: number | null;
  /** Calls whose price is not known; they are not in `cost`. */
  unpriced: number;
}

/** Pure. */
export function sumOf(rows: readonly CallRow[]): Sums {
  const sums: Sums = {
    ...{ calls: rows.length, sent: 0, output: 0, cacheRead: null, cacheOf: 0 },
    ...{ cost: null, unpriced: 0 },
  };
  for (const row of rows) {
    const { tokens, outputTokens, cache, cost } = row;
    sums.sent += sentTokens(row);
    sums.output += outputTokens ?? 0;
    if (cache !== null && cache.read !== null) {
      sums.cacheRead = (sums.cacheRead ?? 0) + cache.read;
      sums.cacheOf += tokens.total;
    }
    if (cost === null) sums.unpriced++;
    else sums.cost = (sums.cost ?? 0) + cost.total;
  }
  return sums;
}

/** Pure. As the gateway counts them: side calls, and sessions that this one started, included. */
export function sumOfUsage({ total }: Pick<Usage, "total">): Sums {
  const { calls, unknown, tokens, cost } = total;
  const sent = tokens.input + tokens.cacheRead + tokens.cacheWrite;
  return {
    ...{ calls, sent, output: tokens.output, cacheOf: sent },
    cacheRead: sent === 0 ? null : tokens.cacheRead,
    ...{ cost: calls === unknown ? null : cost.total, unpriced: unknown },
  };
}

/** Pure. `rows`: the session's; `usage`: what all of it came to, null = not known yet. */
export function planLedger(
  row: CallRow,
  rows: readonly CallRow[],
  usage: Pick<Usage, "total"> | null,
): LedgerLine[] {
  const ofTurn = rows.filter((each) => each.turn === row.turn);
  const [call, turn] = [sumOf([row]), sumOf(ofTurn)];
  const session = usage === null ? null : sumOfUsage(usage);
  const line = (label: string, word: (sums: Sums) => string): LedgerLine => ({
    label,
    call: word(call),
    turn: word(turn),
    session: session === null ? "…" : word(session),
  });
  const waste =
    usage === null
      ? []
      : wasteLines(usage.total, { call: row.waste, turn: ofTurn.flatMap(({ waste }) => waste) });
  return [
    line("calls", ({ calls }) => formatCount(calls)),
    line("sent", ({ sent }) => formatCount(sent)),
    line("written", ({ output }) => formatCount(output)),
    line("from cache", describeShare),
    line("cost", describeCost),
    ...waste,
  ];
}

/** What was paid for nothing, by cause, and what summaries and the like took. */
function wasteLines(
  { waste, sideCalls, cost }: Usage["total"],
  own: { call: readonly CallWaste[]; turn: readonly CallWaste[] },
): LedgerLine[] {
  const { brokenPrefix, resent, overFull } = waste;
  const line = (label: string, calls: number, dollars: number, cause?: CallWaste["cause"]) => {
    const of = (all: readonly CallWaste[]) =>
      describeWaste(all.filter((one) => one.cause === cause));
    const [call, turn] = [of(own.call), of(own.turn)];
    if (calls === 0 && turn === "") return [];
    const session = `${formatDollars(dollars)} in ${formatNumberOf(calls, "call")}`;
    return [{ label, call, turn, session }];
  };
  return [
    ...line("of it summaries", sideCalls, cost.summariser),
    ...line("of it lost caches", brokenPrefix.calls, brokenPrefix.dollars, "broken-prefix"),
    ...line("of it sent again", resent.calls, resent.dollars, "re-sent"),
    ...line("of it too large", overFull.calls, overFull.dollars, "over-full"),
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

/** "$4.12", "$4.12 + 3 unpriced", or "not known". */
export function describeCost({ cost, unpriced }: Sums): string {
  if (cost === null) return "not known";
  return unpriced === 0 ? formatDollars(cost) : `${formatDollars(cost)} + ${unpriced} unpriced`;
}
