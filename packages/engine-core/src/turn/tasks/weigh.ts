// Decides how a turn goes on after a compaction.
import type { CompactionOutcome } from "../compaction.ts";
import { toTheModel } from "../order.ts";
import { done, doneOnly, type Task } from "../step.ts";
import type { CompactionUnderWay, Turn } from "../turn.ts";
import { MAX_TIMEOUT_COMPACTIONS } from "./plan-recovery.ts";
import { whoCannot } from "./recover.ts";

export const weigh: Task = {
  begin(turn) {
    const { compaction, reply } = turn;
    const outcome = compaction?.outcome;
    if (!compaction || !outcome || reply !== null) return done(turn);
    const helped = outcome.ok && outcome.compacted;
    if (compaction.request.trigger === "threshold")
      return helped
        ? doneOnly(turn, toTheModel(turn.setup))
        : done({ ...turn, recovery: { ...turn.recovery, highMarkIsVain: true } });
    if (helped || wasStale(turn, outcome))
      return doneOnly(
        turn,
        toTheModel(turn.setup),
        ...(helped ? [] : [{ do: "forget-measurement" as const }]),
      );
    return doneOnly(afterFailure(turn, compaction, outcome), ["recover"]);
  },
  take: (turn) => done(turn),
};

/** Nothing to compact: then the count that said otherwise was of another context. */
const wasStale = ({ failure, composed }: Turn, outcome: CompactionOutcome): boolean =>
  failure?.heldBack === true &&
  outcome.ok &&
  outcome.code === "no-conversation" &&
  composed.size?.source === "counted";

/** Whoever could not make it smaller is not asked again in this turn. */
function afterFailure(
  turn: Turn,
  compaction: CompactionUnderWay,
  outcome: CompactionOutcome,
): Turn {
  const { recovery } = turn;
  if (compaction.request.trigger === "timeout_recovery")
    return { ...turn, recovery: { ...recovery, timeoutCompactions: MAX_TIMEOUT_COMPACTIONS } };
  const { reason = "no reason given", timedOut } = outcome;
  return {
    ...turn,
    compactionFailure: { reason, timedOut },
    recovery: { ...recovery, ...whoCannot(compaction) },
  };
}
