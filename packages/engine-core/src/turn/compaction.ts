// What a compaction is asked for, and what it may come to.
import type { CompactParams, CompactResult } from "@clew/plugin-sdk/core";
import type { CompactionAsk, CompactionTrigger } from "@clew/plugin-sdk/host";
import type { CompactionReport } from "../report/turn-report.ts";

/** Attempts at getting out of an overflow, per run (contract §3.7). */
export const MAX_OVERFLOW_ATTEMPTS = 3;

/** What is asked, down to where, and which attempt it is. */
export interface CompactionRequest extends CompactionAsk {
  tokenBudget: number;
  target: NonNullable<CompactParams["compactionTarget"]>;
  attempt?: number;
}

/** What a compaction came to, a throw and a missed bound included. */
export interface CompactionOutcome extends CompactResult {
  /** The engine, or the built-in compaction, did not finish within its bound. */
  timedOut: boolean;
  /** The engine left it to the host's built-in compaction. Absent: it did not. */
  delegated?: true;
}

/** The same as reports and listeners are told it. */
export const compactionReport = ({
  trigger,
  ms,
  outcome: { ok, compacted, code, reason, result },
}: {
  trigger: CompactionTrigger;
  ms: number;
  outcome: CompactionOutcome;
}): CompactionReport => ({
  ...{ trigger, ok, compacted },
  ...(code !== undefined && { code }),
  reason: reason ?? null,
  tokensBefore: result?.tokensBefore ?? null,
  tokensAfter: result?.tokensAfter ?? null,
  durationMs: ms,
});
