// Writes a history as turns of two roles, of which the newest is held open.
import type {
  AgentMessage,
  AssistantMessage,
  ToolResultMessage,
  UserMessage,
} from "@clew/plugin-sdk/core";
import { toModelMessage } from "@clew/plugin-sdk/transcript";
import { writeGrowing } from "./growing.ts";
import { wellFormedJson } from "./well-formed.ts";

/** A message of the wire that what follows may still belong to. */
export interface Turn<Block> {
  readonly role: "user" | "assistant";
  /** Answers to calls: they stand before everything else. */
  readonly results: readonly Block[];
  readonly others: readonly Block[];
}

/** Claude's providers look for what they keep so many blocks before a mark. */
const LOOKED_BACK = 20;

/**
 * True for a turn that, with the reply before it, may reach beyond where a provider looks: results
 * are as many as the calls they answer.
 */
export const isLong = ({ results, others }: Turn<unknown>): boolean =>
  results.length + others.length > LOOKED_BACK / 2;

/** How the turns of one wire are written. */
export interface TurnWriter<Block> {
  /** Everything the turns depend on besides the messages, compared one by one. */
  shape: readonly unknown[];
  /** How many messages from the first on are expected to stay; 0 = not told. */
  stableMessages: number;
  /** What a message holds, in blocks of the wire. */
  blocks: BlockWriter<Block>;
  /** With the mark for the cache at its end. */
  markEnd(turn: Turn<Block>): Turn<Block>;
  /**
   * What stands between results and what a person says behind them, where one turn may not hold
   * both. Default: one may.
   */
  between?: Turn<Block>;
}

/** How one wire says what a message holds. */
export interface BlockWriter<Block> {
  user(message: UserMessage): readonly Block[];
  assistant(message: AssistantMessage): readonly Block[];
  /** The answer to its call, and what the person is shown behind all answers. */
  result(message: ToolResultMessage): { result: Block; after: readonly Block[] };
}

interface Progress<Block> {
  /** Messages seen so far. */
  readonly count: number;
  readonly open: Turn<Block> | undefined;
}

/**
 * The turns as JSON, joined by commas. The newest is written at the end only, with its mark, so
 * that the text of those before it never changes.
 */
export function writeTurns<Block>(
  messages: readonly AgentMessage[],
  writer: TurnWriter<Block>,
): string {
  return writeGrowing<Progress<Block>>({
    messages,
    shape: [...writer.shape, writer.stableMessages],
    before: { count: 0, open: undefined },
    write: (fresh, progress) => writeFresh(fresh, progress, writer),
    end: ({ open }) => (open === undefined ? "" : json([writer.markEnd(open)])),
  });
}

function writeFresh<Block>(
  messages: readonly AgentMessage[],
  { count, open }: Progress<Block>,
  writer: TurnWriter<Block>,
): { text: string; state: Progress<Block> } {
  const whole: Turn<Block>[] = [];
  let last = open;
  /** `last`, where it is this run's own to add to: what an earlier run told stays as it is. */
  let own: OpenTurn<Block> | undefined;
  messages.forEach((message, index) => {
    const isStableEnd = count + index + 1 === writer.stableMessages;
    const turn = turnOf(message, writer.blocks);
    if (turn === undefined) return;
    const marked = isStableEnd ? writer.markEnd(turn) : turn;
    if (last?.role !== "user" || turn.role !== "user") {
      if (last !== undefined) whole.push(last);
      last = marked;
    } else if (writer.between === undefined || hasResults(last) === hasResults(turn)) {
      if (own === undefined || own !== last) own = openTurn(last);
      for (const result of marked.results) own.results.push(result);
      for (const other of marked.others) own.others.push(other);
      last = own;
    } else {
      whole.push(last, writer.between);
      last = marked;
    }
  });
  return { text: json(whole), state: { count: count + messages.length, open: last } };
}

const hasResults = ({ results }: Turn<unknown>): boolean => results.length > 0;

/** A turn that is added to. */
interface OpenTurn<Block> extends Turn<Block> {
  readonly results: Block[];
  readonly others: Block[];
}

const openTurn = <Block>({ role, results, others }: Turn<Block>): OpenTurn<Block> => ({
  role,
  results: [...results],
  others: [...others],
});

/** In one go: that is faster than one by one. */
const json = (turns: readonly Turn<unknown>[]): string =>
  wellFormedJson(
    turns.map(({ role, results, others }) => ({ role, content: [...results, ...others] })),
  ).slice(1, -1);

/** Undefined for a message that says nothing. On these wires results are the user's. */
function turnOf<Block>(
  original: AgentMessage,
  blocks: BlockWriter<Block>,
): Turn<Block> | undefined {
  const message = toModelMessage(original);
  if (message === undefined) return undefined;
  if (message.role === "toolResult") {
    const { result, after } = blocks.result(message);
    return { role: "user", results: [result], others: after };
  }
  const others = message.role === "user" ? blocks.user(message) : blocks.assistant(message);
  return others.length === 0 ? undefined : { role: message.role, results: [], others };
}
