// Server-sent events for one turn: the run never waits for a client, and does not end because a client went away.
import type { TurnEvent, TurnResult } from "@clew/engine-core";

/** What a client of a streamed turn is told; `done` or `error` is last. */
export type StreamedEvent =
  | TurnEvent
  | { type: "queued" }
  | { type: "done"; outcome: TurnResult["outcome"]; error: TurnResult["error"]; turnId: string; replyEntryId: string | null }
  | { type: "error"; error: { code: string; message: string } };

export interface EventStream {
  body: ReadableStream<Uint8Array>;
  send(event: StreamedEvent): void;
  end(): void;
}

/** `onGone` is called once when the client cancels before the end. */
export function eventStream(onGone: () => void): EventStream {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (created) => {
      controller = created;
    },
    cancel: () => {
      controller = undefined;
      onGone();
    },
  });
  return {
    body,
    send: (event) => controller?.enqueue(encoder.encode(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)),
    end: () => {
      controller?.close();
      controller = undefined;
    },
  };
}
