// Tells what a prompt cache would have given back of a call that a session made.

import type { ReportItem } from "@clew/engine-core";
import type { Usage } from "@clew/plugin-sdk/core";
import type { ModelRef } from "@clew/plugin-sdk/host";
import type { OpenedCall } from "../inspect/opened-call.ts";
import { modelOf } from "../inspect/placed-call.ts";
import { keptMsOf } from "../replay/prompt-cache.ts";

/** A call as its report tells it. */
type MadeCall = Pick<OpenedCall, "report" | "call" | "messages">;

/**
 * Pure. By the rule that a shadow's calls are reckoned by: what a request has in common with the
 * one before comes out of the cache while that is kept, and the rest goes into it. The reply does
 * not count.
 */
export function madeUsage(
  now: MadeCall,
  before: MadeCall | undefined,
  model: Pick<ModelRef, "cacheTtlMs" | "profile">,
): Usage {
  const fixed = sum([...now.call.system, ...now.call.tools]);
  const total = fixed + sum(now.messages);
  const read =
    before !== undefined && isKept(now, before, keptMsOf(model))
      ? fixed + sum(now.messages.slice(0, sameItems(now.messages, before.messages)))
      : 0;
  const cacheRead = read < (model.profile?.cache.minTokens ?? 0) ? 0 : read;
  return {
    ...{ input: 0, output: 0, cacheRead, cacheWrite: total - cacheRead },
    totalTokens: total,
  };
}

function isKept(now: MadeCall, before: MadeCall, keptMs: number): boolean {
  const fixedOf = ({ call }: MadeCall) => [...call.system, ...call.tools].map(({ hash }) => hash);
  return (
    modelOf(now) === modelOf(before) &&
    fixedOf(now).join("\n") === fixedOf(before).join("\n") &&
    endOf(now) - endOf(before) <= keptMs
  );
}

/** About when it was answered, ms since the epoch: tools and engines of its turn are left aside. */
const endOf = ({ report, call }: MadeCall): number =>
  Date.parse(report.startedAt) + call.durationMs;

function sameItems(now: readonly ReportItem[], before: readonly ReportItem[]): number {
  const differs = now.findIndex(({ hash }, at) => hash !== before[at]?.hash);
  return differs < 0 ? now.length : differs;
}

const sum = (items: readonly ReportItem[]): number =>
  items.reduce((total, { tokens }) => total + tokens, 0);
