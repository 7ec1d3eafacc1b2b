// Remembers what was told of one turn, for those who come in its midst or come back.
import { randomBytes } from "node:crypto";
import type { TurnEvent } from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { Approval } from "../approvals/approval.ts";
import type { EventPlace } from "./event-place.ts";

/** What is told of a turn that is its client's to hear. */
export type RingEvent =
  | TurnEvent
  | { type: "approval"; approval: Approval }
  | { type: "approval_end"; id: string; text: string };

export interface NumberedEvent {
  number: number;
  event: RingEvent;
}

/** How what a ring tells ended. */
export type RingEnd<Over = unknown> =
  | { kind: "over"; over: Over }
  /** It threw; nobody knows how the turn ends, or another gateway goes on with it. */
  | { kind: "broken"; error: unknown };

/** What to tell whoever comes. */
export interface ToldAgain {
  events: readonly NumberedEvent[];
  /** Pieces between are kept no more: entries are told instead, and the open reply whole. */
  isWhole: boolean;
}

/** `Over`: what is known of a turn's end. */
export interface TurnRing<Over = unknown> {
  /** No other turn has it, in no other process. */
  readonly id: string;
  /** What the turn answers. Undefined: nobody said. */
  readonly prompt: AgentMessage | undefined;
  add(event: RingEvent): void;
  end(how: RingEnd<Over>): void;
  /** Undefined: it goes on. */
  ended(): RingEnd<Over> | undefined;
  /** Number of the newest event; 0 = there was none. */
  newest(): number;
  /** Number of the event that told a stored entry; undefined = none did. */
  numberOf(entryId: string): number | undefined;
  /** The first entry that it told; undefined = none yet. */
  firstEntry(): string | undefined;
  /** The newest entry at or before a number; null = none. */
  entryAt(number: number): string | null;
  /** Everything after a number. */
  after(number: number): ToldAgain;
  /** Told of all that comes; undefined = of the end. The function it gives ends that. */
  follow(listener: (event: NumberedEvent | undefined) => void): () => void;
  /** About what it takes in memory, with the entries' texts. */
  bytes(): number;
}

/** Bytes of pieces that are remembered of one turn, as they are sent. */
const MOST_BYTES = 2 ** 20;
/** Of an event, besides what it says. */
const FRAME_BYTES = 96;
/** Compacted when so many leading places are empty. */
const SPARE_PLACES = 1024;

/** What tells of requests is large, and only for those who follow every session. */
const FORGOTTEN: ReadonlySet<RingEvent["type"]> = new Set(["call", "call_end", "compaction"]);

export function createTurnRing<Over = unknown>({
  most = MOST_BYTES,
  id = newId(),
  prompt,
}: {
  most?: number;
  id?: string;
  prompt?: AgentMessage | undefined;
} = {}): TurnRing<Over> {
  /** Those that are stored; they are in memory with their session anyway. */
  const entries: NumberedEvent[] = [];
  /** From `start` on the newest, up to `most` bytes; those before it are let go. */
  let events: NumberedEvent[] = [];
  let start = 0;
  /** Since the newest entry, pieces of a text as one: all of it, however much is let go. */
  let open: NumberedEvent[] = [];
  let newest = 0;
  let bytes = 0;
  let end: RingEnd<Over> | undefined;
  const listeners = new Set<(event: NumberedEvent | undefined) => void>();
  /** Number of the newest event that is let go. */
  const lost = () => newest - (events.length - start);
  const letOldestGo = () => {
    for (; bytes > most && start < events.length; start++) bytes -= bytesOf(events[start]!.event);
    // Seldom: what is left is moved.
    if (start < SPARE_PLACES || start < events.length / 2) return;
    events = events.slice(start);
    start = 0;
  };
  const entryBefore = (number: number) => entries.findLast((entry) => entry.number <= number);
  return {
    ...{ id, prompt },
    add(event) {
      if (FORGOTTEN.has(event.type) || end !== undefined) return;
      newest++;
      const numbered = { number: newest, event };
      events.push(numbered);
      bytes += bytesOf(event);
      if (entryIdOf(event) === undefined) open = withOpen(open, numbered);
      else {
        entries.push(numbered);
        open = [];
      }
      letOldestGo();
      for (const listener of [...listeners]) listener(numbered);
    },
    end(how) {
      if (end !== undefined) return;
      end = how;
      for (const listener of [...listeners]) listener(undefined);
      listeners.clear();
    },
    ended: () => end,
    newest: () => newest,
    numberOf: (entryId) => entries.find(({ event }) => entryIdOf(event) === entryId)?.number,
    firstEntry: () => entryIdOf(entries[0]?.event),
    entryAt: (number) => entryIdOf(entryBefore(number)?.event) ?? null,
    after(number) {
      if (number >= lost())
        return { events: events.slice(start + number - lost()), isWhole: false };
      const told = entries.filter((each) => each.number > number);
      return { events: [...told, ...open], isWhole: true };
    },
    follow(listener) {
      if (end === undefined) listeners.add(listener);
      return () => listeners.delete(listener);
    },
    bytes: () => entries.reduce((sum, { event }) => sum + textBytes(event), bytes),
  };
}

/** The stored entry that an event tells; undefined = none. */
export const entryIdOf = (event: RingEvent | undefined): string | undefined =>
  event?.type === "accepted" || event?.type === "message" ? event.entryId : undefined;

/** Where a client is that has heard an event of the ring. */
export const placeIn = (ring: Pick<TurnRing, "id" | "entryAt">, number: number): EventPlace => ({
  ring: ring.id,
  number,
  entryId: ring.entryAt(number),
});

const newId = () => randomBytes(6).toString("hex");

function bytesOf(event: RingEvent): number {
  switch (event.type) {
    case "text":
    case "thinking":
      return FRAME_BYTES + Buffer.byteLength(event.delta);
    case "notice":
      return FRAME_BYTES + Buffer.byteLength(event.text);
    case "approval":
      return FRAME_BYTES + Buffer.byteLength(JSON.stringify(event.approval));
    default:
      return FRAME_BYTES;
  }
}

function textBytes(event: RingEvent): number {
  if (event.type !== "message" || !("content" in event.message)) return 0;
  const { content } = event.message;
  if (typeof content === "string") return content.length;
  const texts = (content as readonly object[]).flatMap((block) => Object.values(block));
  return texts.reduce<number>((sum, each) => sum + (typeof each === "string" ? each.length : 0), 0);
}

/** A piece joins the one before it: who did not hear that one is told both as one. */
function withOpen(open: NumberedEvent[], { number, event }: NumberedEvent): NumberedEvent[] {
  const last = open.at(-1);
  if (
    (event.type === "text" || event.type === "thinking") &&
    last !== undefined &&
    last.event.type === event.type
  )
    open[open.length - 1] = { number, event: { ...event, delta: last.event.delta + event.delta } };
  else open.push({ number, event });
  return open;
}
