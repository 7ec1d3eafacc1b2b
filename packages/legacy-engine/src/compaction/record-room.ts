// How many tokens the record beside one summary may take.
import { estimateText } from "@clew/plugin-sdk/tokens";
import { type RecordRoom, splitRecord, withinTokens } from "@clew/plugin-sdk/transcript";

/** No more than this share of what is summarised: a record must not undo what a summary saves. */
const SHARE_OF_SUMMARISED = 0.5;

/**
 * Most tokens of a record: within the limits of the window, and smaller than what it helps to
 * replace; an earlier record goes with its summary.
 */
export function recordRoomFor(input: {
  limit: RecordRoom;
  summarisedTokens: number;
  previousTokens: number;
}): RecordRoom {
  return withinTokens(
    input.limit,
    SHARE_OF_SUMMARISED * input.summarisedTokens + input.previousTokens,
  );
}

/** Tokens of what code wrote in an earlier summary; none when it has no record. */
export function recordTokensOf(summary: string | undefined): number {
  const { pins, anchors, ledger } = splitRecord(summary ?? "");
  return estimateText([pins, anchors, ledger].join("\n")).estimate;
}
