// Writes what stands for the messages before a cut, within the room that there is.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { Steps } from "@clew/plugin-sdk/host";
import { estimateMessage, estimateText, type TokenEstimate } from "@clew/plugin-sdk/tokens";
import {
  joinRecord,
  type LedgerState,
  type RecordRoom,
  recordRoomOf,
  recordSteps,
  withinTokens,
} from "@clew/plugin-sdk/transcript";
import { ownRecord, sayCovered, sayPast } from "../messages/own.ts";
import { joinedLinesOf } from "../summaries/joined-lines.ts";
import type { Stretch } from "../summaries/lines.ts";

/** What is known of the messages that a record shall stand for. */
export interface RecordInput {
  readonly state: LedgerState;
  /** How many they are. */
  readonly covered: number;
  /** See `sayCovered`. */
  readonly hasLetGo: boolean;
  /** The messages that are shown beside it. */
  readonly kept: readonly AgentMessage[];
  /** Tokens of the whole context. */
  readonly budget: number;
  /** Tokens that are left for the record, by the high estimate. */
  readonly left: number;
  /** Of that, what it may take at least, as the record before it did. Absent: its budget says. */
  readonly leastRoom?: number | undefined;
  /** Everything before, in stretches. Empty: it is not to be listed. */
  readonly past: readonly Stretch[];
  /** See `ViewRequest`. */
  readonly pastTokens?: number | undefined;
}

/** Shares of the room that are tried one after the other. */
const SHARES: readonly number[] = [1, 0.6, 0.3, 0.1];

/**
 * As much as `left` holds, and in any case that something is hidden and how to find it. The same
 * input gives the same bytes.
 */
export function* writeRecord({
  state,
  covered,
  hasLetGo,
  kept,
  budget,
  left,
  leastRoom = 0,
  past,
  pastTokens,
}: RecordInput): Steps<string> {
  const most = past.length === 0 ? 0 : pastRoomOf(budget, pastTokens);
  for (const share of SHARES) {
    const lines =
      past.length === 0 ? "" : sayPast(joinedLinesOf(past, Math.min(most, left) * share));
    const summary = `${sayCovered(covered, hasLetGo)}${lines}`;
    const taken = estimateText(lines);
    const room = roomOf(budget, leastRoom - taken.estimate);
    const within = withinTokens(room, Math.min(allOf(room), left - taken.high) * share);
    const parts = yield* recordSteps(state, { room: within, kept });
    const record = joinRecord({ ...parts, summary });
    yield;
    if (tokensOf(record).high <= left) return record;
  }
  return joinRecord({ summary: sayCovered(covered, hasLetGo) });
}

/** The room under a budget, or as much of each part as makes it `least`. */
function roomOf(budget: number, least: number): RecordRoom {
  const room = recordRoomOf(budget);
  const times = Math.max(1, least / Math.max(1, allOf(room)));
  return {
    ledger: Math.floor(times * room.ledger),
    anchors: Math.floor(times * room.anchors),
    pins: Math.floor(times * room.pins),
  };
}

const allOf = ({ ledger, anchors, pins }: RecordRoom) => ledger + anchors + pins;

/** Tokens that lines of the past may take under a budget. */
export const pastRoomOf = (budget: number, most: number = MOST_PAST): number =>
  Math.min(most, Math.floor(PAST_SHARE * budget));

/** By an estimate that may be a twentieth too low: 4,000 is what nobody exceeds. */
const MOST_PAST = 3_700;
const PAST_SHARE = 1 / 8;

/** Of the smallest record. */
export const leastRecord = (covered: number): TokenEstimate =>
  tokensOf(joinRecord({ summary: sayCovered(covered, false) }));

const tokensOf = (record: string): TokenEstimate =>
  estimateMessage(ownRecord(record, { name: "", timestamp: undefined }));
