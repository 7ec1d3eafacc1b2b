// How many tokens the record beside one summary may take.
import { estimateText } from "@clew/plugin-sdk/tokens";
import { type RecordRoom, splitRecord, withinTokens } from "@clew/plugin-sdk/transcript";
import { CHARS_PER_TOKEN, type CompactionLimits } from "./limits.ts";

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

/** Of the high mark: what a compaction leaves must not soon be above it again. */
const SHARE_LEFT = 0.85;

/**
 * Most estimated tokens of the open request: what the rest leaves of the room below the high mark,
 * and half of what may be kept in any case.
 */
export function requestRoomFor({
  limits: { water, tailTokens, summaryChars },
  recordRoom: { ledger, anchors, pins },
  keptTokens,
  tokenRatio,
}: {
  limits: Pick<CompactionLimits, "water" | "tailTokens" | "summaryChars">;
  recordRoom: RecordRoom;
  /** Of the messages that stay, estimated. */
  keptTokens: number;
  /** Counted / estimated tokens of the session's model. */
  tokenRatio: number;
}): number {
  const beside = keptTokens + ledger + anchors + pins + summaryChars / CHARS_PER_TOKEN;
  const left = (SHARE_LEFT * water.high) / Math.max(1, tokenRatio) - beside;
  return Math.max(tailTokens / 2, left);
}

/** What is not at least halved is not worth writing anew. */
const LONGER_BY = 2;

/**
 * True: a summary of another program, or of a larger window, that takes more than one written now
 * would. A request that it repeats may be long.
 */
export function isTooLong(
  summary: string,
  { recordRoom, summaryChars }: Pick<CompactionLimits, "recordRoom" | "summaryChars">,
  scale: number,
): boolean {
  const { ledger, anchors, pins } = recordRoom;
  const { openRequest = "" } = splitRecord(summary);
  const tokens = estimateText(summary).estimate - estimateText(openRequest).estimate;
  const most = ledger + anchors + pins + summaryChars / CHARS_PER_TOKEN;
  return scale * tokens > LONGER_BY * most;
}

/** Tokens of what code wrote in an earlier summary; none when it has no record. */
export function recordTokensOf(summary: string | undefined): number {
  const { pins, anchors, ledger } = splitRecord(summary ?? "");
  return estimateText([pins, anchors, ledger].join("\n")).estimate;
}
