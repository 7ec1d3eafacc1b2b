import { describe, expect, it } from "vitest";
import { readEvents } from "./read-events.ts";

const bytes = new TextEncoder().encode(
  'event: queued\ndata: {"type":"queued"}\n\nevent: text\ndata: {"type":"text","delta":"Grüße 🧶"}\n\nevent: text\ndata: {"type":"te',
);

async function readAll(body: ReadableStream<Uint8Array>): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const event of readEvents(body)) events.push(event);
  return events;
}

describe("a streamed turn", () => {
  it("is read the same however its bytes are cut, without the event that was cut off", async () => {
    for (const size of [1, 2, 3, 7, bytes.length]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.slice(index * size, (index + 1) * size),
      );
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const piece of pieces) controller.enqueue(piece);
          controller.close();
        },
      });
      expect(await readAll(body)).toEqual([
        { type: "queued" },
        { type: "text", delta: "Grüße 🧶" },
      ]);
    }
  });

  it("that breaks is an error after what had arrived", async () => {
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (pulled++ === 0) controller.enqueue(bytes.slice(0, 45));
          else controller.error(new TypeError("network error"));
        },
      },
      { highWaterMark: 0 },
    );
    const events: unknown[] = [];
    const read = async () => {
      for await (const event of readEvents(body)) events.push(event);
    };
    await expect(read()).rejects.toThrow("network error");
    expect(events).toEqual([{ type: "queued" }]);
  });
});
