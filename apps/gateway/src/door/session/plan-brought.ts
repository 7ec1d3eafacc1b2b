// Decides whether results are of calls that their session's newest reply has left open.
import type { ToolCallBlock } from "@clew/plugin-sdk/core";
import {
  blocksOf,
  type NewTranscriptEntry,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import { planUndoTurn } from "../../sessions/undo-turn.ts";
import { planGoingOn } from "../../waiting/plan-going-on.ts";
import type { NewestTurn } from "./newest-turn.ts";
import { answeredBy, outcomesOf } from "./open-turn.ts";

/** A turn that was begun elsewhere, by a client that named no session, and goes on here. */
export interface BroughtResults {
  /** What began it. */
  goesOnFrom: string;
  /** To be stored first: one for each of the calls. */
  results: readonly NewTranscriptEntry[];
}

/** Pure. Undefined: they are of none of these calls, or nobody can go on behind them. */
export function planBrought(
  branch: readonly TranscriptEntry[],
  newest: Pick<NewestTurn, "results" | "said">,
): BroughtResults | undefined {
  const last = branch.findLast((entry) => entry.type === "message");
  const message = last?.message;
  if (message?.role !== "assistant" || message.stopReason === "aborted") return undefined;
  const calls = blocksOf(message.content).flatMap(callIn);
  if (!newest.results.some((result) => answeredBy(result, calls) !== undefined)) return undefined;
  const goesOnFrom = branch[planUndoTurn(branch)?.keep ?? -1]?.id;
  if (goesOnFrom === undefined || planGoingOn(branch, goesOnFrom).kind === "over") return undefined;
  const outcomes = outcomesOf(newest, calls);
  const results = calls.map(
    ({ id, name }): NewTranscriptEntry => ({
      type: "message",
      message: { role: "toolResult", toolCallId: id, toolName: name, ...outcomes.get(id)! },
    }),
  );
  return { goesOnFrom, results };
}

const callIn = (block: { type: string }): ToolCallBlock[] =>
  block.type === "toolCall" ? [block as ToolCallBlock] : [];
