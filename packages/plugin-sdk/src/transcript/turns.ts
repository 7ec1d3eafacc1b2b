// Where a turn starts and ends.
import type { AgentMessage } from "../contract/message.ts";

/** A run of messages: from `start` up to, not including, `end`. */
export interface MessageRange {
  /** Index of the first. */
  start: number;
  /** Index after the last. */
  end: number;
}

/**
 * True for a message that starts a turn: role "user", whatever it holds. Two in a row are two
 * turns; a heartbeat counts; shell commands, custom messages and summaries do not (spec
 * "compaction" §1.2, rule 1).
 */
export function isUserTurn(message: AgentMessage): boolean {
  return message.role === "user";
}

/**
 * The turns of a list, in order and without gaps. Messages before the first user
 * message are the first range.
 */
export function splitTurns(messages: readonly AgentMessage[]): MessageRange[] {
  const turns: MessageRange[] = [];
  let start = 0;
  for (let index = 1; index <= messages.length; index++) {
    if (index < messages.length && !isUserTurn(messages[index]!)) continue;
    turns.push({ start, end: index });
    start = index;
  }
  return turns;
}

/** Index of the user message whose turn holds `index`; undefined before the first user message. */
export function turnStart(messages: readonly AgentMessage[], index: number): number | undefined {
  for (let at = Math.min(index, messages.length - 1); at >= 0; at--)
    if (isUserTurn(messages[at]!)) return at;
  return undefined;
}
