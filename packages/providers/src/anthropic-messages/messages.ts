// How agent messages follow each other on the Messages wire.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { toModelMessage } from "@clew/plugin-sdk/transcript";
import { writeGrowing } from "../shared/growing.ts";
import { wellFormedJson } from "../shared/well-formed.ts";
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

/** A message that what follows may still belong to. */
interface Turn {
  readonly role: "user" | "assistant";
  /** Answers to calls: they stand before everything else. */
  readonly results: readonly WireBlock[];
  readonly others: readonly WireBlock[];
}

interface Progress {
  /** Messages seen so far. */
  readonly count: number;
  readonly open: Turn | undefined;
}

/**
 * The messages of a call as JSON, joined by commas. Pairing and order are the transcript policy's;
 * this only translates, and puts what a person says behind results into one message with them.
 */
export function writeMessages(messages: readonly AgentMessage[], reader: MessagesReader): string {
  const { model, profile, mark, stableMessages } = reader;
  return writeGrowing<Progress>({
    messages,
    // Everything about a reader that its messages depend on.
    shape: [
      profile,
      model.provider,
      model.id,
      model.acceptsImages,
      stableMessages,
      mark.cache_control?.ttl,
      mark.cache_control?.type,
    ],
    before: { count: 0, open: undefined },
    write: (fresh, progress) => writeTurns(fresh, progress, reader),
    end: ({ open }) => (open === undefined ? "" : json([markLast(open, mark)])),
  });
}

function writeTurns(
  messages: readonly AgentMessage[],
  { count, open }: Progress,
  reader: MessagesReader,
): { text: string; state: Progress } {
  const whole: Turn[] = [];
  let last = open;
  messages.forEach((message, index) => {
    const isStableEnd = count + index + 1 === reader.stableMessages;
    const turn = turnOf(message, reader);
    if (turn === undefined) return;
    const marked = isStableEnd ? markLast(turn, reader.mark) : turn;
    if (last !== undefined && last.role === "user" && turn.role === "user")
      last = joined(last, marked);
    else {
      if (last !== undefined) whole.push(last);
      last = marked;
    }
  });
  return { text: json(whole), state: { count: count + messages.length, open: last } };
}

/** Undefined for a message that says nothing. */
function turnOf(original: AgentMessage, reader: MessagesReader): Turn | undefined {
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

const joined = (first: Turn, second: Turn): Turn => ({
  role: "user",
  results: [...first.results, ...second.results],
  others: [...first.others, ...second.others],
});

/** With the mark on the last block that may have one. */
function markLast(turn: Turn, mark: CacheMark): Turn {
  if (mark.cache_control === undefined) return turn;
  const place = turn.others.some(isMarkable) ? "others" : "results";
  const at = turn[place].findLastIndex(isMarkable);
  const block = turn[place][at];
  return block === undefined
    ? turn
    : { ...turn, [place]: turn[place].with(at, { ...block, ...mark }) };
}

/** In one go: that is faster than one by one. */
const json = (turns: readonly Turn[]): string =>
  wellFormedJson(
    turns.map(({ role, results, others }) => ({ role, content: [...results, ...others] })),
  ).slice(1, -1);
