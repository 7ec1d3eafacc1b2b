// Lays what a shadow engine would have sent beside what was sent.

import { formatCount, formatDollars, formatNumberOf } from "../../src/conversation/format.ts";
import type { ShadowView } from "../../src/gateway/session-views.ts";

export interface ShadowRow {
  label: string;
  made: string;
  shadow: string;
  /** By how much the shadow has more or less; "" = there is nothing to say. */
  difference: string;
}

type Summary = ShadowView["summary"];

/** Pure. Of all calls that both made. */
export function planShadow({ calls, tokens, dollars, evidence, engineMs }: Summary): ShadowRow[] {
  if (calls === 0) return [];
  const row = (
    label: string,
    { made, shadow }: { made: number; shadow: number },
    word: (value: number) => string,
  ): ShadowRow => ({
    ...{ label, made: word(made), shadow: word(shadow) },
    difference: made === 0 ? "" : percent(shadow / made - 1),
  });
  const each = ({ made, shadow }: { made: number; shadow: number }) => ({
    ...{ made: made / calls, shadow: shadow / calls },
  });
  const { needed } = evidence;
  return [
    row("tokens", tokens, (value) => formatCount(value)),
    row("tokens per call", each(tokens), (value) => formatCount(Math.round(value))),
    ...(dollars === null
      ? []
      : [row("cost with expected caches, without summaries", dollars, formatDollars)]),
    ...(needed === 0
      ? []
      : [
          row(
            "names in view",
            evidence,
            (value) => `${formatCount(value)} of ${formatCount(needed)}`,
          ),
        ]),
    row("engine ms per call", each(engineMs), (value) => value.toFixed(1)),
  ];
}

function percent(share: number): string {
  const whole = Math.round(share * 100);
  return whole === 0 ? "±0 %" : `${whole > 0 ? "+" : "−"}${formatCount(Math.abs(whole))} %`;
}

/** Pure. The same of one call, in words; null = it was not compared. */
export function describeShadowed({ summary, calls }: ShadowView, id: string): string | null {
  const pair = calls.find(({ made }) => made.id === id);
  if (pair === undefined || pair.shadow === null) return null;
  const { made, shadow } = pair;
  const names =
    shadow.evidence.needed === 0
      ? ""
      : ` and ${formatCount(shadow.evidence.present)} of ${formatNumberOf(shadow.evidence.needed, "needed name")} (${formatCount(made.evidence.present)})`;
  return `Call ${id}: ${summary.engine} would have sent ${formatCount(shadow.tokens.total)} tokens where ${formatCount(made.tokens.total)} were sent, with ${formatCount(shadow.fates.shown)} of ${formatNumberOf(shadow.fates.all, "entry", "entries")} (${formatCount(made.fates.shown)})${names}.`;
}
