// Compacts at the threshold for engines that leave compaction to the host.

import { estimateRequest } from "../request/precheck.ts";
import { sizeOf } from "../request/request-size.ts";
import type { Assembly } from "./assembly.ts";
import { compactBuiltIn } from "./compaction.ts";
import { messagesOfTurn } from "./history.ts";
import type { TurnRun } from "./turn-run.ts";

/**
 * An owner decides for itself; a host without built-in compaction, or with it switched off,
 * never does (contract §3.6).
 */
function mayAutoCompact(state: {
  ownsCompaction: boolean;
  enabled: boolean;
  hasBuiltIn: boolean;
  justDone: boolean;
}): boolean {
  return !state.ownsCompaction && state.enabled && state.hasBuiltIn && !state.justDone;
}

/**
 * True when it compacted: what was assembled is out of date. A failure is in the
 * report; the turn goes on.
 */
export async function autoCompact(run: TurnRun, assembly: Assembly): Promise<boolean> {
  const { compaction } = run.ports;
  const allowed = mayAutoCompact({
    ownsCompaction: run.engine.info.ownsCompaction === true,
    enabled: run.settings.autoCompaction,
    hasBuiltIn: compaction !== undefined,
    justDone: run.recovery.autoCompacted,
  });
  if (!allowed || compaction === undefined) return false;
  const { promptBudget } = assembly.budget;
  const size = sizeOf(run.state, assembly.messages.concat(messagesOfTurn(run)));
  const currentTokenCount = estimateRequest(
    size,
    assembly.fixedTokens,
    null,
    run.settings.tokenRatio,
  );
  if (currentTokenCount <= promptBudget) return false;
  run.recovery = { ...run.recovery, autoCompacted: true };
  const result = await compactBuiltIn(run, compaction, {
    trigger: "threshold",
    target: "threshold",
    tokenBudget: promptBudget,
    currentTokenCount,
  });
  return result.ok && result.compacted;
}
