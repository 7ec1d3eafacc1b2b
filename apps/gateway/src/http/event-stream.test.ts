import { describe, expect, it } from "vitest";
import { eventStream } from "./event-stream.ts";

const MIB = 2 ** 20;
const piece = { type: "text" as const, delta: "a".repeat(MIB) };

describe("a client", () => {
  it("that does not read is dropped before it takes much memory, and is sent nothing more", async () => {
    let gone = 0;
    const stream = eventStream(() => {
      gone++;
    });
    for (let count = 0; count < 100; count++) stream.send(piece);
    expect(gone).toBe(1);
    const reader = stream.body.getReader();
    await expect(reader.read()).rejects.toThrow("does not read");
    stream.end();
  });

  it("that reads gets everything, however much that is", async () => {
    const stream = eventStream(() => {
      throw new Error("the client is there");
    });
    const reader = stream.body.getReader();
    for (let count = 0; count < 100; count++) {
      stream.send(piece);
      expect((await reader.read()).value?.byteLength).toBeGreaterThan(MIB);
    }
    stream.end();
    expect((await reader.read()).done).toBe(true);
  });
});
