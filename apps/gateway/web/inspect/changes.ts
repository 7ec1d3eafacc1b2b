// Lists what became different between two calls, as rows below a few facts.

import {
  formatCount,
  formatDollars,
  formatNumberOf,
  formatShare,
} from "../../src/conversation/format.ts";
import { ownDollars } from "../../src/inspect/cost-with-sides.ts";
import { describeRecount } from "../../src/inspect/recount.ts";
import type { Cost } from "../../src/inspect/shapes/calls.ts";
import type { CallDiff, SentItem } from "../../src/inspect/shapes/one-call.ts";
import { whyUncached } from "../../src/inspect/why-uncached.ts";
import { signed } from "../../src/text/number.ts";

export type ChangeRow =
  | { kind: "heading"; label: string; tokens: number }
  | { kind: "added"; item: SentItem; tokens: number; why: string }
  | { kind: "removed"; item: SentItem; tokens: number; why: string }
  | { kind: "changed"; item: SentItem; before: SentItem; tokens: number; why: string };

export interface ChangesPlan {
  /** Facts in words, the important first. */
  facts: readonly { text: string; isBad: boolean }[];
  rows: readonly ChangeRow[];
}

/** Pure. `tokens` are those that came (+) or went (−). */
export function planChanges(diff: CallDiff): ChangesPlan {
  const { from, to, prefix, added, removed, changed } = diff;
  const rows: ChangeRow[] = [
    ...under(
      "removed",
      removed.map(({ item, why }) => ({ kind: "removed", item, tokens: -item.tokens, why })),
    ),
    ...under(
      "changed",
      changed.map(({ before, after, why }) => ({
        ...{ kind: "changed", item: after, before, why },
        tokens: after.tokens - before.tokens,
      })),
    ),
    ...under(
      "new",
      added.map((item) => ({ kind: "added", item, tokens: item.tokens, why: item.reason })),
    ),
  ];
  const uncached = whyUncached(to);
  const isBroken = to.marks.includes("cache-broken");
  return {
    facts: [
      ...(rows.length === 0 ? [{ text: "Nothing changed.", isBad: false }] : []),
      { text: describePrefix(prefix), isBad: isBroken },
      ...(uncached === null
        ? []
        : [
            isBroken
              ? { text: `Cache broken: ${uncached}.`, isBad: true }
              : { text: `Nothing was to come from a cache: ${uncached}.`, isBad: false },
          ]),
      { text: describeSize(from.tokens.total, to.tokens.total), isBad: false },
      ...describeRecount(diff).map((text) => ({ text, isBad: false })),
      ...(to.cost === null ? [] : [{ text: describeCosts(to.cost, from.cost), isBad: false }]),
      ...to.happened.map((text) => ({ text, isBad: false })),
    ],
    rows,
  };
}

type Change = Exclude<ChangeRow, { kind: "heading" }>;

function under(word: string, rows: readonly Change[]): ChangeRow[] {
  if (rows.length === 0) return [];
  const tokens = rows.reduce((sum, row) => sum + row.tokens, 0);
  return [
    { kind: "heading", label: `${formatNumberOf(rows.length, "item")} ${word}`, tokens },
    ...rows,
  ];
}

function describePrefix({ items, tokens, share }: CallDiff["prefix"]): string {
  if (items === 0) return "No prefix kept: the very first item differs.";
  const percent = formatShare(share, 1);
  return `Prefix kept: ${formatNumberOf(items, "item")}, ${formatCount(tokens)} tokens (${percent}).`;
}

const describeSize = (from: number, to: number): string =>
  `${formatCount(to)} tokens, were ${formatCount(from)} (${signed(to - from)}).`;

/** Of their own, as side calls belong to what happened between calls. */
function describeCosts(to: Cost, from: Cost | null): string {
  const was = from === null ? "" : `, was ${formatDollars(ownDollars(from))}`;
  const sides =
    to.summariser === 0
      ? ""
      : ` Side calls before it, such as for a summary: ${formatDollars(to.summariser)}.`;
  return `Cost ${formatDollars(ownDollars(to))}${was}.${sides}`;
}
