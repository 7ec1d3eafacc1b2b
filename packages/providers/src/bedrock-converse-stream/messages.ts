// How agent messages follow each other on the Converse wire.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { isLong, type Turn, writeTurns } from "../shared/turns.ts";
import {
  assistantBlocks,
  type BlockReader,
  toolResultBlocks,
  userBlocks,
  type WireBlock,
} from "./blocks.ts";
import type { CachePoint } from "./cache.ts";
import { readsSigned } from "./maker.ts";

/** Whom messages are written for, and what is marked for the cache. */
export interface ConverseReader extends BlockReader {
  /** Undefined: nothing is marked. */
  mark: CachePoint | undefined;
  /** How many messages from the first on are expected to stay; 0 = not told. */
  stableMessages: number;
}

/** What stands between results and a person who speaks right behind them, where nobody else may. */
const BETWEEN: Turn<WireBlock> = { role: "assistant", results: [], others: [{ text: "(seen)" }] };

/**
 * The messages of a call as JSON, joined by commas. Pairing and order are the transcript policy's;
 * this only translates, and puts what users say in a row into one message.
 */
export function writeConverseMessages(
  messages: readonly AgentMessage[],
  reader: ConverseReader,
): string {
  const { model, profile, mark, stableMessages } = reader;
  return writeTurns<WireBlock>(messages, {
    // Everything about a reader that its messages depend on.
    shape: [profile, model.api, model.acceptsImages, mark === undefined, mark?.cachePoint.ttl],
    stableMessages,
    blocks: {
      user: (message) => userBlocks(message, reader),
      assistant: (message) => assistantBlocks(message, reader),
      result: (message) => toolResultBlocks(message, reader),
    },
    // Four places may be marked: the fourth is free where nothing is told to stay.
    markEnd: (turn) => (mark === undefined ? turn : markEnds(turn, mark, stableMessages === 0)),
    ...(!readsSigned(profile) && { between: BETWEEN }),
  });
}

/**
 * With the mark at its end; behind its first result, too, where it alone is so long that the end of
 * the last request may be out of reach.
 */
function markEnds(turn: Turn<WireBlock>, mark: CachePoint, isFree: boolean): Turn<WireBlock> {
  const [first, ...rest] = turn.results;
  return first === undefined || !isFree || !isLong(turn)
    ? markEnd(turn, mark)
    : markEnd({ ...turn, results: [first, { ...mark }, ...rest] }, mark);
}

/** No mark stands behind another, nor behind thinking: that is refused. */
function markEnd(turn: Turn<WireBlock>, mark: CachePoint): Turn<WireBlock> {
  const last = turn.others.at(-1);
  const isTaken = last !== undefined && ("cachePoint" in last || "reasoningContent" in last);
  return isTaken ? turn : { ...turn, others: [...turn.others, { ...mark }] };
}
