// How agent messages follow each other on the Messages wire.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { isLong, type Turn, writeTurns } from "../shared/turns.ts";
import {
  assistantBlocks,
  type BlockReader,
  isMarkable,
  toolResultBlocks,
  userBlocks,
  type WireBlock,
} from "./blocks.ts";
import type { CacheMark } from "./cache.ts";

/** Whom messages are written for, and what is marked for the cache. */
export interface MessagesReader extends BlockReader {
  mark: CacheMark;
  /** How many messages from the first on are expected to stay; 0 = not told. */
  stableMessages: number;
}

/**
 * The messages of a call as JSON, joined by commas. Pairing and order are the transcript policy's;
 * this only translates, and puts what a person says behind results into one message with them.
 */
export function writeMessages(messages: readonly AgentMessage[], reader: MessagesReader): string {
  const { model, profile, mark, stableMessages } = reader;
  return writeTurns<WireBlock>(messages, {
    // Everything about a reader that its messages depend on.
    shape: [
      profile,
      model.provider,
      model.id,
      model.acceptsImages,
      mark.cache_control?.ttl,
      mark.cache_control?.type,
    ],
    stableMessages,
    blocks: {
      user: (message) => userBlocks(message, reader),
      assistant: (message) => assistantBlocks(message, reader),
      result: (message) => toolResultBlocks(message, reader),
    },
    // Four places may be marked: the fourth is free where nothing is told to stay.
    markEnd: (turn) => markEnds(turn, mark, stableMessages === 0),
  });
}

/**
 * With the mark on its last block; on its first one, too, where it alone is so long that the end of
 * the last request may be out of reach.
 */
function markEnds(turn: Turn<WireBlock>, mark: CacheMark, isFree: boolean): Turn<WireBlock> {
  const [first] = turn.results;
  return first === undefined || !isFree || !isLong(turn)
    ? markLast(turn, mark)
    : markLast({ ...turn, results: turn.results.with(0, { ...first, ...mark }) }, mark);
}

/** With the mark on the last block that may have one. */
function markLast(turn: Turn<WireBlock>, mark: CacheMark): Turn<WireBlock> {
  if (mark.cache_control === undefined) return turn;
  const place = turn.others.some(isMarkable) ? "others" : "results";
  const at = turn[place].findLastIndex(isMarkable);
  const block = turn[place][at];
  return block === undefined
    ? turn
    : { ...turn, [place]: turn[place].with(at, { ...block, ...mark }) };
}
