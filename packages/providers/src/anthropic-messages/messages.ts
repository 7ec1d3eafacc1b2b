// How agent messages follow each other on the Messages wire.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { toModelMessage } from "@clew/plugin-sdk/transcript";
import { type Turn, writeTurns } from "../shared/turns.ts";
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
    turnOf: (message) => turnOf(message, reader),
    markEnd: (turn) => markLast(turn, mark),
  });
}

function turnOf(original: AgentMessage, reader: MessagesReader): Turn<WireBlock> | undefined {
  const message = toModelMessage(original);
  if (message === undefined) return undefined;
  if (message.role === "toolResult") {
    const { result, after } = toolResultBlocks(message, reader);
    return { role: "user", results: [result], others: after };
  }
  const others =
    message.role === "user" ? userBlocks(message, reader) : assistantBlocks(message, reader);
  return others.length === 0 ? undefined : { role: message.role, results: [], others };
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
