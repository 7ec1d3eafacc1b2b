// Compaction by threshold, between model calls and after the turn: the host's own, for engines that leave compaction to the host.
import type { Assembly } from "./assembly.ts";
import { compactBuiltIn } from "./compaction.ts";
import { messagesOfTurn } from "./history.ts";
import { estimateRequest } from "./precheck.ts";
import { sizeOf } from "./request-size.ts";
import type { TurnRun } from "./turn-run.ts";

/** Pure: an owner decides for itself; a host without built-in compaction, or with it switched off, never does (contract §3.6). */
export function shouldAutoCompact(state: {
  ownsCompaction: boolean;
  enabled: boolean;
  hasBuiltIn: boolean;
  /** Tokens. */
  estimate: number;
  promptBudget: number;
}): boolean {
  return !state.ownsCompaction && state.enabled && state.hasBuiltIn && state.estimate > state.promptBudget;
}

/** True when it compacted: what was assembled is out of date. A failure is in the report; the turn goes on. */
export async function autoCompact(run: TurnRun, assembly: Assembly): Promise<boolean> {
  const { compaction } = run.ports;
  const size = sizeOf(run.state, [...assembly.messages, ...messagesOfTurn(run)]);
  const estimate = estimateRequest(size, assembly.fixedTokens, null);
  const { promptBudget } = assembly.budget;
  const wanted = shouldAutoCompact({
    ownsCompaction: run.engine.info.ownsCompaction === true,
    enabled: run.settings.autoCompaction,
    hasBuiltIn: compaction !== undefined,
    estimate,
    promptBudget,
  });
  if (!wanted || compaction === undefined || run.recovery.autoCompacted) return false;
  run.recovery = { ...run.recovery, autoCompacted: true };
  const result = await compactBuiltIn(run, compaction, {
    trigger: "threshold",
    target: "threshold",
    tokenBudget: promptBudget,
    currentTokenCount: estimate,
  });
  return result.ok && result.compacted;
}
