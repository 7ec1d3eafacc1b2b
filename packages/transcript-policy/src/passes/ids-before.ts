// Remembers which ids the calls before a part of a history had, and which they were given.
import {
  callId,
  isThinking,
  isToolCall,
  isToolCallLike,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
} from "../stored.ts";

/** The ids of calls that stand before a part of a history. */
export interface IdsBefore {
  /** How often each was used, as a step was given it. */
  readonly uses: ReadonlyMap<string, number>;
  /** Those that were given, or kept. */
  readonly taken: ReadonlySet<string>;
  /** Items that the calls were on a Responses wire. Default: none. */
  readonly items?: ReadonlySet<string>;
}

/**
 * The same while it grows.
 * @internal
 */
export interface IdsMemory extends IdsBefore {
  readonly uses: Map<string, number>;
  readonly taken: Set<string>;
  readonly items: Set<string>;
}

/** @internal */
export const noIds = (): IdsMemory => ({ uses: new Map(), taken: new Set(), items: new Set() });

/**
 * Adds what a step was given, and what it made of it, to what it remembers.
 * @internal
 */
export type NoteIds = (
  memory: IdsMemory,
  given: readonly StoredMessage[],
  made: readonly StoredMessage[],
) => void;

/**
 * For a step that renames calls; `part` is what of an id nobody else may take.
 * @internal
 */
export const noteRenamed =
  (part: (id: string) => string): NoteIds =>
  (memory, given, made) => {
    for (const id of callsIn(given).filter(isToolCall).map(callId)) {
      memory.uses.set(id, (memory.uses.get(id) ?? 0) + 1);
      const item = id.split("|")[1];
      if (item !== undefined) memory.items.add(item);
    }
    for (const id of callsIn(made).filter(isToolCall).map(callId)) memory.taken.add(part(id));
  };

/**
 * For a step that leaves turns with thinking as they were, or out.
 * @internal
 */
export const noteKeptTurns: NoteIds = (memory, _given, made) => {
  const kept = made.filter((message) => storedBlocks(message).some(isThinking));
  for (const block of callsIn(kept)) memory.taken.add(callId(block));
};

/**
 * What the calls before have in a set of ids, and what is added behind them.
 * @internal
 */
export interface Taken {
  has(id: string): boolean;
  add(id: string): void;
}

/** @internal */
export function takenBehind(before: ReadonlySet<string> | undefined): Taken {
  const own = new Set<string>();
  return {
    has: (id) => own.has(id) || before?.has(id) === true,
    add: (id) => void own.add(id),
  };
}

/**
 * Blocks of assistants that are calls in any spelling.
 * @internal
 */
export const callsIn = (messages: readonly StoredMessage[]): StoredBlock[] =>
  messages
    .filter((message) => roleOf(message) === "assistant")
    .flatMap((message) => storedBlocks(message).filter(isToolCallLike));
