// Prices the calls that a session made by the rules that played ones are priced by.
import type { ReportItem } from "@clew/engine-core";
import { costOf, rounded } from "../costs/cost.ts";
import type { Host } from "../host/host.ts";
import { modelOf } from "../inspect/placed-call.ts";
import { promptTimes } from "../replay/player.ts";
import { madeUsage } from "./made-cache.ts";
import type { AsBilled, OwnCall } from "./session-recording.ts";
import type { PlayedPoint, WhatIf } from "./shapes.ts";

/**
 * Pure. Beside the bill what the calls with a reply would have cost with an ideal cache, as those
 * that are played have one: only the two can be compared.
 */
export function withExpected(
  asItWas: AsBilled,
  calls: readonly OwnCall[],
  { namedModel, points }: { namedModel: Host["namedModel"]; points: readonly PlayedPoint[] },
): WhatIf["asItWas"] {
  const replies = new Map(points.map(({ ofCall, cost }) => [ofCall, cost?.output]));
  const messages: ReportItem[] = [];
  let before: Parameters<typeof madeUsage>[1];
  const priceOf = (own: OwnCall): number | null => {
    const { report, call, row } = own;
    messages.length = call.messages.kept;
    messages.push(...call.messages.items);
    const now = { report, call, messages: messages.slice() };
    const last = before;
    before = row.lost === null ? now : undefined;
    const named = modelNamed(modelOf(own), namedModel);
    if (row.lost !== null || named === null) return null;
    const usage = promptTimes(madeUsage(now, last, named.model), asItWas.tokenRatio);
    const output = replies.get(row.id);
    const told = output === undefined ? (call.usage ?? call.estimated)?.output : 0;
    const cost = costOf({ ...usage, output: told ?? 0 }, named.prices);
    return cost && rounded(cost.total + (output ?? 0));
  };
  const isPlayed = ({ call, report, row }: OwnCall) =>
    call.error === null || row.call === report.modelCalls.length;
  const priced = calls.map((own) => ({ isPlayed: isPlayed(own), expected: priceOf(own) }));
  const played = priced.flatMap((each) => (each.isPlayed ? [each.expected] : []));
  return {
    ...asItWas,
    each: asItWas.each.map((each, at) => ({ ...each, expected: priced[at]!.expected })),
    expected: played.reduce<number | null>(
      (sum, one) => (sum === null || one === null ? null : rounded(sum + one)),
      0,
    ),
  };
}

/** Null: it is not known any more. */
function modelNamed(name: string, namedModel: Host["namedModel"]) {
  try {
    return namedModel(name);
  } catch {
    return null;
  }
}
