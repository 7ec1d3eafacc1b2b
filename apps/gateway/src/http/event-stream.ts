// Sends the events of one turn to a client without ever making the turn wait.
import type { TurnEvent } from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { projectMessageForDisplay } from "@clew/transcript-policy";
import type { Approval } from "../approvals/approval.ts";
import type { CommandAnswer } from "../commands/answer.ts";
import type { SessionSpent } from "../costs/totals.ts";
import type { Ending } from "../events/ending.ts";
import type { TurnCost } from "../inspect/cost.ts";
import type { SafeModePlugin } from "../plugins/load/record.ts";
import { formatPlace, NOTHING_HEARD } from "../streams/event-place.ts";
import type { WaitingView } from "../waiting/waiting-message.ts";

/** Events of a turn that only those are told who follow every session. */
const FOR_FOLLOWERS = ["call", "call_end", "compaction"] as const;

type ToldEvent =
  | Exclude<TurnEvent, { type: (typeof FOR_FOLLOWERS)[number] | "accepted" | "message" }>
  /** With the prompt for those who follow a turn that they did not begin. */
  | { type: "accepted"; entryId: string; message?: AgentMessage }
  /** Absent: it is too large for a client that reads slowly; the session has it. */
  | { type: "message"; entryId: string; message?: AgentMessage };

/** What a client of a streamed turn is told; `done` or `error` is last. */
export type StreamedEvent =
  | ToldEvent
  | { type: "queued" }
  /** It waits for its turn, stored: DELETE /api/sessions/<key>/waiting/<id> takes it back. */
  | { type: "waiting"; message: WaitingView }
  /** What was told behind the entry `keeps` is void (null: all of it), and is told anew. */
  | { type: "restarted"; keeps: string | null }
  /** The turn waits until somebody answers: POST /api/approvals/<id>/once, session or no. */
  | { type: "approval"; approval: Approval }
  /** It waits no more. */
  | { type: "approval_end"; id: string; text: string }
  /** The text was a command; no message was stored and no model asked. `done` follows. */
  | ({ type: "command" } & CommandAnswer)
  | ({
      type: "done";
      /** What the turn's model calls cost, and the session's until now. Absent: none was asked. */
      cost?: { turn: TurnCost; session: SessionSpent };
      /** Plugins that are off because they blocked the gateway. Absent: none is. */
      safeMode?: SafeModePlugin[];
    } & Ending)
  | { type: "error"; error: { code: string; message: string } };

/**
 * The event as a client may see it: messages without runtime context and markers; undefined when
 * nothing is left to show.
 */
export function shownEvent(event: TurnEvent): ToldEvent | undefined {
  if (!isTold(event)) return undefined;
  if (event.type !== "message") return event;
  const message = projectMessageForDisplay(event.message);
  return message === undefined
    ? undefined
    : message === event.message
      ? event
      : { ...event, message };
}

const isTold = (event: TurnEvent): event is Extract<TurnEvent, { type: ToldEvent["type"] }> =>
  !(FOR_FOLLOWERS as readonly string[]).includes(event.type);

export interface EventStream {
  body: ReadableStream<Uint8Array>;
  /** `id`: where a client is that has heard it. Absent: where it was before. */
  send(event: StreamedEvent, id?: string): void;
  /** Of the newest event. */
  lastId(): string;
  /** Resolves when its client has read nearly all that it was sent, or is gone. */
  drained(): Promise<void>;
  end(): void;
}

export interface EventStreamOptions {
  /** Called once when the client goes before the end, or does not read what it is sent. */
  onGone: () => void;
  /** A client that reads nothing for so long is cut off, ms. */
  cutMs?: number;
  /** Where the client is that comes back. Absent: it has heard nothing. */
  since?: string | undefined;
}

/** What a client that does not read may have waiting for it, bytes. */
const MAX_WAITING_BYTES = 768 * 1024;
/** What is handed on at once. */
const PIECE_BYTES = 64 * 1024;
const CUT_MS = 60_000;
/** A client for which less waits keeps up. */
const DRAINED_BYTES = 128 * 1024;

type Waiting =
  | { kind: "bytes"; bytes: Uint8Array }
  /** Pieces of a reply that came while the client did not read are one event. */
  | { kind: "delta"; type: "text" | "thinking"; delta: string; size: number; id: string };

export function eventStream({
  onGone,
  cutMs = CUT_MS,
  since = formatPlace(NOTHING_HEARD),
}: EventStreamOptions): EventStream {
  let lastId = since;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let waiting: Waiting[] = [];
  let waitingBytes = 0;
  let isEnded = false;
  /** The client reads faster than there is something. */
  let isWanted = false;
  let cut: NodeJS.Timeout | undefined;
  const waiters: (() => void)[] = [];

  const isDrained = () => controller === undefined || waitingBytes <= DRAINED_BYTES;
  const wake = () => {
    for (const waiter of waiters.splice(0)) waiter();
  };
  const leave = () => {
    controller = undefined;
    waiting = [];
    wake();
    clearTimeout(cut);
  };
  const drop = () => {
    controller?.error(new Error("The client does not read what it is sent."));
    leave();
    if (!isEnded) onGone();
  };
  const handOn = () => {
    while (isWanted && controller !== undefined) {
      const piece = takePiece(waiting);
      if (piece === undefined) break;
      waitingBytes -= piece.counted;
      isWanted = false;
      clearTimeout(cut);
      cut = undefined;
      controller.enqueue(piece.bytes);
    }
    if (isDrained()) wake();
    if (waiting.length > 0) cut ??= setTimeout(drop, cutMs).unref();
    else if (isEnded && controller !== undefined) {
      controller.close();
      leave();
    }
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start: (created) => {
        controller = created;
      },
      pull() {
        isWanted = true;
        handOn();
      },
      cancel() {
        leave();
        if (!isEnded) onGone();
      },
    },
    { highWaterMark: 0 },
  );
  return {
    body,
    lastId: () => lastId,
    drained: () =>
      isDrained() ? Promise.resolve() : new Promise((resolve) => void waiters.push(resolve)),
    send(event, id = lastId) {
      lastId = id;
      if (controller === undefined || isEnded) return;
      const added = placeFor({ event, id }, waiting, MAX_WAITING_BYTES - waitingBytes);
      if (added === null) return drop();
      waitingBytes += added;
      handOn();
    },
    end() {
      isEnded = true;
      handOn();
    },
  };
}

const encoder = new TextEncoder();

interface Placed {
  event: StreamedEvent;
  id: string;
}

const encoded = ({ event, id }: Placed): Uint8Array =>
  encoder.encode(`id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

/** Puts the event behind what waits, and returns its bytes; null = there is no room for it. */
function placeFor({ event, id }: Placed, waiting: Waiting[], room: number): number | null {
  if (event.type === "text" || event.type === "thinking") {
    const { type, delta } = event;
    const size = Buffer.byteLength(delta);
    // One piece that is larger than all that may wait is let in where nearly nothing does.
    if (size > room && MAX_WAITING_BYTES - room > DRAINED_BYTES) return null;
    const last = waiting.at(-1);
    if (last?.kind === "delta" && last.type === type && last.size + size <= PIECE_BYTES) {
      last.delta += delta;
      last.size += size;
      last.id = id;
    } else waiting.push({ kind: "delta", type, delta, size, id });
    return size;
  }
  const whole = encoded({ event, id });
  const fitting = whole.length <= room ? whole : encoded({ event: shortened(event), id });
  if (fitting.length > room) return null;
  waiting.push({ kind: "bytes", bytes: fitting });
  return fitting.length;
}

/** What a client is sent of a text that does not fit, characters. */
const HEAD = 16_384;

/** What came of a turn is in its session; a text that is nowhere else says that it was cut. */
function shortened(event: StreamedEvent): StreamedEvent {
  if (event.type === "message") {
    const { message: _large, ...rest } = event;
    return rest;
  }
  if ((event.type !== "command" && event.type !== "notice") || event.text.length <= HEAD)
    return event;
  const size = Math.ceil(Buffer.byteLength(event.text) / 1024);
  const text = `${event.text.slice(0, HEAD)}…\n(This is the beginning of ${size} KiB, which is more than can be sent here; ask for less.)`;
  return { ...event, text };
}

/** Takes what comes next off what waits. `counted`: bytes of it that were counted as waiting. */
function takePiece(waiting: Waiting[]): { bytes: Uint8Array; counted: number } | undefined {
  const [first] = waiting;
  if (first === undefined) return undefined;
  if (first.kind === "bytes" && first.bytes.length > PIECE_BYTES) {
    const bytes = first.bytes.subarray(0, PIECE_BYTES);
    first.bytes = first.bytes.subarray(PIECE_BYTES);
    return { bytes, counted: PIECE_BYTES };
  }
  waiting.shift();
  return first.kind === "bytes"
    ? { bytes: first.bytes, counted: first.bytes.length }
    : {
        bytes: encoded({ event: { type: first.type, delta: first.delta }, id: first.id }),
        counted: first.size,
      };
}
