// Reads the events of a stream, such as a turn, from a response body.
import { createParser } from "eventsource-parser";
import type { StreamedEvent } from "./event-stream.ts";

/** An event, and where whoever has heard it is; "" = it does not say. */
export interface PlacedEvent<Event = StreamedEvent> {
  event: Event;
  id: string;
}

/**
 * Ends when the stream does, whether or not a last event (`done`, `error`) came; throws
 * when the connection breaks.
 */
export async function* readEvents<Event = StreamedEvent>(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<Event> {
  for await (const { event } of readPlacedEvents<Event>(body)) yield event;
}

export async function* readPlacedEvents<Event = StreamedEvent>(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<PlacedEvent<Event>> {
  const arrived: PlacedEvent<Event>[] = [];
  const parser = createParser({
    onEvent: ({ data, id = "" }) => void arrived.push({ event: JSON.parse(data) as Event, id }),
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      parser.feed(done ? decoder.decode() : decoder.decode(value, { stream: true }));
      yield* arrived.splice(0);
      if (done) return;
    }
  } finally {
    // Whoever has heard enough leaves.
    reader.cancel().catch(() => {});
  }
}
