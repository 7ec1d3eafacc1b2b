import { describe, expect, it } from "vitest";
import { eventStream, type StreamedEvent } from "./event-stream.ts";

const KIB = 1024;
const text = (size: number): StreamedEvent => ({ type: "text", delta: "a".repeat(size) });
const message = (size: number): StreamedEvent => ({
  ...{ type: "message", entryId: "1" },
  message: { role: "user", content: "a".repeat(size) },
});

function opened(cutMs?: number) {
  let gone = 0;
  const onGone = () => {
    gone++;
  };
  const stream = eventStream({ onGone, ...(cutMs !== undefined && { cutMs }) });
  return { stream, gone: () => gone };
}

const dataOf = (bytes: Uint8Array) =>
  [...new TextDecoder().decode(bytes).matchAll(/^data: (.*)$/gm)].map(
    ([, json]) => JSON.parse(json!) as StreamedEvent,
  );

describe("a client", () => {
  it("that does not read is dropped before it takes a megabyte, and is sent nothing more", async () => {
    const { stream, gone } = opened();
    let sent = 0;
    while (gone() === 0) {
      stream.send(text(KIB));
      sent++;
    }
    expect(sent).toBeLessThan(1000);
    stream.send(text(KIB));
    stream.end();
    expect(gone()).toBe(1);
    await expect(stream.body.getReader().read()).rejects.toThrow("does not read");
  });

  it("that reads nothing of what waits is cut off when its time is up", async () => {
    const { stream, gone } = opened(5);
    stream.send(text(1));
    await expect.poll(gone).toBe(1);
    await expect(stream.body.getReader().read()).rejects.toThrow("does not read");
  });

  it("that reads gets everything, however much that is", async () => {
    const { stream, gone } = opened();
    const reader = stream.body.getReader();
    let bytes = 0;
    for (let count = 0; count < 100; count++) {
      stream.send(text(512 * KIB));
      const { value } = await reader.read();
      bytes += value!.byteLength;
    }
    stream.end();
    expect((await reader.read()).done).toBe(true);
    expect(bytes).toBeGreaterThan(100 * 512 * KIB);
    expect(gone()).toBe(0);
  });

  it("that reads slowly gets pieces of a reply as one event, in order with all others", async () => {
    const { stream } = opened();
    stream.send({ type: "queued" });
    for (const delta of ["a", "b", "c"]) stream.send({ type: "text", delta });
    stream.send({ type: "thinking", delta: "d" });
    stream.send({ type: "notice", text: "e" });
    stream.end();
    const events: StreamedEvent[] = [];
    for await (const bytes of stream.body) events.push(...dataOf(bytes));
    expect(events).toEqual([
      { type: "queued" },
      { type: "text", delta: "abc" },
      { type: "thinking", delta: "d" },
      { type: "notice", text: "e" },
    ]);
  });

  it("that reads slowly is told of a large message without what makes it large", async () => {
    const { stream, gone } = opened();
    stream.send(message(2000 * KIB));
    stream.send(message(KIB));
    stream.end();
    const pieces: Uint8Array[] = [];
    for await (const bytes of stream.body) pieces.push(bytes);
    const [large, small] = dataOf(Buffer.concat(pieces));
    expect(large).toEqual({ type: "message", entryId: "1" });
    expect(small).toEqual(message(KIB));
    expect(gone()).toBe(0);
  });
});
