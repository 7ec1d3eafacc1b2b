// Adds up what a call, its turn and the whole session sent, had from a cache and cost.
import type { CallRow } from "../../src/inspect/shapes.ts";
import { formatCount, formatDollars, formatShare } from "../format.ts";

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
  /** Sent in those calls. */
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
  for (const { tokens, outputTokens, cache, cost } of rows) {
    sums.sent += tokens.total;
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

/** Pure. `rows`: the session's, all of them. */
export function planLedger(row: CallRow, rows: readonly CallRow[]): LedgerLine[] {
  const [call, turn, session] = [
    sumOf([row]),
    sumOf(rows.filter((each) => each.turn === row.turn)),
    sumOf(rows),
  ];
  const line = (label: string, word: (sums: Sums) => string): LedgerLine => ({
    label,
    call: word(call),
    turn: word(turn),
    session: word(session),
  });
  return [
    line("calls", ({ calls }) => formatCount(calls)),
    line("sent", ({ sent }) => formatCount(sent)),
    line("written", ({ output }) => formatCount(output)),
    line("from cache", describeShare),
    line("cost", describeCost),
  ];
}

/** "61 %", or "not told". */
export const describeShare = ({ cacheRead, cacheOf }: Sums): string =>
  cacheRead === null ? "not told" : formatShare(cacheRead, cacheOf);

/** "$4.12", "$4.12 + 3 unpriced", or "not known". */
export function describeCost({ cost, unpriced }: Sums): string {
  if (cost === null) return "not known";
  return unpriced === 0 ? formatDollars(cost) : `${formatDollars(cost)} + ${unpriced} unpriced`;
}
