// Tells of the calls of the turn under way, as its report would tell of them now.
import type { ReportItem, TurnReport } from "@clew/engine-core";
import type { CallWalk } from "./call-walk.ts";
import { withList } from "./call-walk.ts";
import type { OpenedCall } from "./opened-call.ts";
import { type PlacedCall, placedCalls } from "./placed-call.ts";
import type { TurnUnderWay } from "./session-source.ts";
import type { CallRow } from "./shapes/calls.ts";

/** A call of the turn under way. */
export interface RunningCall {
  placed: PlacedCall;
  row: CallRow;
  /** All that were sent. */
  messages: readonly ReportItem[];
}

export interface RunningCalls {
  turn: number;
  /** The last of them is being answered. */
  isAnswering: boolean;
  calls: readonly RunningCall[];
  opened: Map<string, Promise<OpenedCall>>;
}

export const NONE_RUNNING: RunningCalls = {
  ...{ turn: 0, isAnswering: false, calls: [], opened: new Map() },
};

/** What was reported before the turn under way. */
export interface Reported {
  /** The newest call; undefined = there is none. */
  last: PlacedCall | undefined;
  /** All of its messages. */
  messages: readonly ReportItem[];
  /** Turns without calls that came behind it. */
  since: readonly TurnReport[];
}

/** `known`: what was told the last time, which stands while nothing has changed. */
export async function tellRunning(
  now: TurnUnderWay,
  known: RunningCalls,
  { last, messages, since }: Reported,
  begin: () => CallWalk,
): Promise<RunningCalls> {
  const placed = placedCalls(now.turn, now.report);
  const were = [known.turn, known.calls.length, known.isAnswering];
  const are = [now.turn, placed.length, now.isAnswering];
  if (were.join() === are.join()) return known;
  const walk = begin();
  // What comes next is told as what differs from it.
  if (last !== undefined) await walk.add(withList(last, { kept: 0, items: messages.slice() }));
  for (const report of since) walk.fold.skip(report);
  const calls: RunningCall[] = [];
  for (const [index, each] of placed.entries()) {
    const row = await walk.add(each);
    const isLast = index === placed.length - 1;
    calls.push({
      placed: each,
      row: { ...row, running: isLast && now.isAnswering ? "call" : "turn" },
      messages: walk.fold.sent.items.slice(),
    });
  }
  return { turn: now.turn, isAnswering: now.isAnswering, calls, opened: new Map() };
}
