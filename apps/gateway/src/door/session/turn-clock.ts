// Ends a turn that runs too long, or whose client lets it wait too long.
import { EndedEarly, TimeIsUp } from "../../stopping.ts";

export interface TurnClock {
  turnTo(state: "running" | "waiting"): void;
  stop(): void;
}

/** A timer takes no more. */
const MOST_MS = 2 ** 31 - 1;

/** What a turn waits for its client is no time that it runs. */
export function createTurnClock({
  turnMs,
  waitMs,
  onOver,
}: {
  turnMs: number;
  waitMs: number;
  onOver: (why: EndedEarly) => void;
}): TurnClock {
  let timer: NodeJS.Timeout | undefined;
  let left = turnMs;
  let since: number | undefined;
  const pause = () => {
    clearTimeout(timer);
    if (since !== undefined) left -= performance.now() - since;
    since = undefined;
  };
  return {
    turnTo(state) {
      pause();
      if (state === "running") since = performance.now();
      const why =
        state === "running"
          ? new TimeIsUp(
              `The run was stopped after ${turnMs / 1000} s (agents.defaults.timeoutSeconds); what had arrived is kept.`,
            )
          : new EndedEarly(
              `The client gave no results of its tools for ${waitMs / 1000} s (door.session.toolWaitSeconds).`,
            );
      timer = setTimeout(
        () => onOver(why),
        Math.min(MOST_MS, Math.max(0, state === "running" ? left : waitMs)),
      );
      timer.unref();
    },
    stop: pause,
  };
}
