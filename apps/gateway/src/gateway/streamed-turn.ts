// Has what is told of a turn remembered while it runs, for those who listen to it.
import type { TurnEvent, TurnRequest, TurnResult } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { concerns, describeEnd } from "../approvals/approval.ts";
import type { Watcher } from "../approvals/queue.ts";
import { type Ending, endingOf } from "../events/ending.ts";
import { costOfTurn, type TurnCost } from "../inspect/cost.ts";
import type { TurnStreams } from "../streams/turn-streams.ts";

/** What is known of a turn when it is over. */
export interface TurnOver {
  ending: Ending;
  /** Null: no model was asked. */
  cost: TurnCost | null;
}

export interface StreamedTurn {
  key: string;
  prompt: TurnRequest["prompt"];
  /** Of the session, when the turn begins. */
  branch: readonly TranscriptEntry[];
  /** Entry of the prompt that another gateway began to answer. Undefined: nobody did. */
  goesOnFrom: string | undefined;
}

export async function streamedTurn(
  streams: TurnStreams<TurnOver>,
  { key, prompt, branch, goesOnFrom }: StreamedTurn,
  run: (tell: (event: TurnEvent) => void) => Promise<TurnResult>,
): Promise<TurnResult> {
  const ring = streams.begin(key, { role: "user", ...prompt });
  const earlier = goesOnFrom === undefined ? [] : messagesBehind(branch, goesOnFrom);
  try {
    const result = await run((event) => {
      ring.add(event);
      // What was stored before is told as if it were said now: whoever comes hears all of it.
      if (event.type === "accepted") for (const each of earlier.splice(0)) ring.add(each);
    });
    const isLost = result.error?.code === "SESSION_LOCKED";
    ring.end(isLost ? { kind: "broken", error: lost() } : { kind: "over", over: overOf(result) });
    return result;
  } catch (error) {
    ring.end({ kind: "broken", error });
    throw error;
  }
}

/** Nobody knows yet how the turn ends. */
export const lost = (): ContextEngineError =>
  new ContextEngineError(
    "SESSION_LOCKED",
    "Another gateway has the session by now, and goes on with the turn; come back for it.",
  );

export function overOf(result: TurnResult): TurnOver {
  const { report } = result;
  return {
    ending: endingOf(result),
    cost: report.modelCalls.length > 0 ? costOfTurn(report) : null,
  };
}

/** Shows what turns wait for to those who listen to them. */
export const approvalsTo = (streams: TurnStreams): Watcher => ({
  canAnswer: false,
  asked(approval) {
    for (const [key, ring] of streams.all())
      if (concerns(approval, key)) ring.add({ type: "approval", approval });
  },
  over(approval, end) {
    const { id } = approval;
    for (const [key, ring] of streams.all())
      if (concerns(approval, key)) ring.add({ type: "approval_end", id, text: describeEnd(end) });
  },
});

function messagesBehind(
  branch: readonly TranscriptEntry[],
  entryId: string,
): Extract<TurnEvent, { type: "message" }>[] {
  const at = branch.findIndex(({ id }) => id === entryId);
  return at < 0 ? [] : branch.slice(at + 1).flatMap(messageEvent);
}

/** As it was told when it was stored. */
export const messageEvent = (entry: TranscriptEntry): Extract<TurnEvent, { type: "message" }>[] =>
  entry.type === "message" ? [{ type: "message", entryId: entry.id, message: entry.message }] : [];
