// Sends the events of one turn to a client without ever making the turn wait.
import type { TurnEvent } from "@clew/engine-core";
import { projectMessageForDisplay } from "@clew/transcript-policy";
import type { Approval } from "../approvals/approval.ts";
import type { CommandAnswer } from "../commands/answer.ts";
import type { SessionSpent } from "../costs/totals.ts";
import type { Ending } from "../events/ending.ts";
import type { TurnCost } from "../inspect/cost.ts";
import type { SafeModePlugin } from "../plugins/load/record.ts";

/** Events of a turn that only those are told who follow every session. */
const FOR_FOLLOWERS = ["call", "call_end", "compaction"] as const;

type ToldEvent = Exclude<TurnEvent, { type: (typeof FOR_FOLLOWERS)[number] }>;

/** What a client of a streamed turn is told; `done` or `error` is last. */
export type StreamedEvent =
  | ToldEvent
  | { type: "queued" }
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

const isTold = (event: TurnEvent): event is ToldEvent =>
  !(FOR_FOLLOWERS as readonly string[]).includes(event.type);

export interface EventStream {
  body: ReadableStream<Uint8Array>;
  send(event: StreamedEvent): void;
  end(): void;
}

/** What a client that does not read may have waiting for it, bytes. */
const MAX_WAITING_BYTES = 8 * 2 ** 20;

/**
 * `onGone` is called once when the client cancels before the end, or does not read what it is sent.
 */
export function eventStream(onGone: () => void): EventStream {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start: (created) => {
        controller = created;
      },
      cancel: () => {
        controller = undefined;
        onGone();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING_BYTES }),
  );
  return {
    body,
    send(event) {
      if (controller === undefined) return;
      if ((controller.desiredSize ?? 0) <= 0) {
        controller.error(new Error("The client does not read what it is sent."));
        controller = undefined;
        return onGone();
      }
      controller.enqueue(
        encoder.encode(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
      );
    },
    end: () => {
      controller?.close();
      controller = undefined;
    },
  };
}
