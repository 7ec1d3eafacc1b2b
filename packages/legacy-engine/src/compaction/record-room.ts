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
const SHARE_LEFT = 0.9;
/** Of ledger and passages, what stays beside a long request: each can be looked up again. */
const LEAST_BESIDE_REQUEST = 0.25;

/** What stands beside a record, and the room for all. */
interface Beside {
  limits: Pick<CompactionLimits, "water" | "tailTokens" | "summaryChars">;
  /** Of the messages that stay, estimated. */
  keptTokens: number;
  /** Counted / estimated tokens of the session's model. */
  tokenRatio: number;
}

/** Estimated tokens below the high mark beside the messages that stay and the longest prose. */
const roomLeft = ({ limits: { water, summaryChars }, keptTokens, tokenRatio }: Beside) =>
  (SHARE_LEFT * water.high) / Math.max(1, tokenRatio) - keptTokens - summaryChars / CHARS_PER_TOKEN;

/**
 * What a record of `room` may take beside an open request of `requestTokens`: ledger and passages
 * make room for it, pins do not. Of a request that is too long even then nothing is gained.
 */
export function roomBesideRequest(
  room: RecordRoom,
  { requestTokens, ...beside }: Beside & { requestTokens: number },
): RecordRoom {
  const names = room.ledger + room.anchors;
  const left = roomLeft(beside) - requestTokens - room.pins;
  if (left >= names || left < LEAST_BESIDE_REQUEST * names) return room;
  return { ...withinTokens({ ...room, pins: 0 }, left), pins: room.pins };
}

/**
 * Most estimated tokens of the open request: what the rest leaves of the room below the high mark,
 * and half of what may be kept in any case.
 */
export function requestRoomFor({
  recordRoom: { ledger, anchors, pins },
  ...beside
}: Beside & { recordRoom: RecordRoom }): number {
  return Math.max(beside.limits.tailTokens / 2, roomLeft(beside) - ledger - anchors - pins);
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
