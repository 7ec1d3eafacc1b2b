// Knows what became of a message, from its arrival to the end of its turn.
import type { TurnEvent, TurnResult } from "@clew/engine-core";
import type { TurnRing } from "../streams/turn-ring.ts";
import type { SendRequest } from "./send-request.ts";
import {
  bytesOfMessage,
  viewOf,
  type WaitingMessage,
  type WaitingView,
} from "./waiting-message.ts";

/** What came of a message: its turn, or the entry that says it already. */
export type SentResult = TurnResult | { outcome: "known"; entryId: string };

/** Where what is told of a message begins. */
export interface ToldFrom {
  ring: TurnRing;
  /** Number of the event that told that it is stored. */
  number: number;
  entryId: string;
}

/** A message that was taken in. */
export interface Taken {
  /** Null: its turn has begun. */
  waiting: WaitingView | null;
  /** Resolves when it is stored; never where it has no turn of its own here. */
  begun: Promise<ToldFrom>;
  /** Rejects when it has no turn: it was taken back, or the gateway stops. */
  result: Promise<SentResult>;
}

/**
 * A message that the session has already. What never begins is its own: whoever waits for it is
 * held by it.
 */
export const takenAsSaid = (entryId: string): Taken => ({
  waiting: null,
  begun: new Promise(() => {}),
  result: Promise.resolve({ outcome: "known", entryId }),
});

/** A message that waits, or has its turn. */
export interface Item {
  request: SendRequest;
  message: WaitingMessage;
  bytes: number;
  /** Its file says it, once it is stored; the others are gone when the process is. */
  isKept: boolean;
  /** Entry that says it: its turn was cut short, and goes on. Absent: it is not said. */
  goesOnFrom?: string;
  /** Settles when it is stored, or could not be. Absent: nobody stores it. */
  stored?: Promise<void>;
  /** From an earlier process, or sent under a name of the client's own. */
  mayBeKnown: boolean;
  /** Where it is: "given" to a turn that has not stored it yet. */
  state: "arriving" | "waiting" | "given" | "running";
  problem: string | null;
  listeners: Set<(event: TurnEvent) => void>;
  /** Where what is told of it begins. Absent: its turn has not begun. */
  from?: ToldFrom;
  begun: PromiseWithResolvers<ToldFrom>;
  end: PromiseWithResolvers<SentResult>;
  abort: AbortController;
}

export function createItem(request: SendRequest, message: WaitingMessage): Item {
  const item: Item = {
    ...{ request, message, bytes: bytesOfMessage(message.content), isKept: false },
    ...{ mayBeKnown: request.idempotencyKey !== undefined, state: "arriving", problem: null },
    listeners: new Set(request.onEvent && [request.onEvent]),
    begun: Promise.withResolvers<ToldFrom>(),
    end: Promise.withResolvers<SentResult>(),
    abort: new AbortController(),
  };
  // Whoever waits for it hears of it; nobody has to.
  item.end.promise.catch(() => {});
  return item;
}

export function tellOf({ listeners }: Item, event: TurnEvent): void {
  for (const listener of listeners) listener(event);
}

/**
 * The same message once more, from whoever did not hear that it was taken in. What is acknowledged
 * is durable, to whoever sent it.
 */
export async function join(item: Item, onEvent: SendRequest["onEvent"]): Promise<Taken> {
  await item.stored;
  return takenAgain(item, onEvent);
}

function takenAgain(item: Item, onEvent: SendRequest["onEvent"]): Taken {
  if (onEvent !== undefined) {
    for (const event of toldOf(item)) onEvent(event);
    item.listeners.add(onEvent);
  }
  const waits = item.isKept && item.state !== "running";
  const waiting = waits ? viewOf(item.message, item.problem) : null;
  return { waiting, begun: item.begun.promise, result: item.end.promise };
}

function toldOf({ from }: Item): TurnEvent[] {
  if (from === undefined) return [];
  const { ring, number, entryId } = from;
  const events = ring
    .after(number)
    .events.flatMap(({ event }) =>
      event.type === "approval" || event.type === "approval_end" ? [] : [event],
    );
  return [{ type: "accepted", entryId }, ...events];
}
