// Writes the answers of the door to their connection, so that no byte of them changes.
import type { ServerResponse } from "node:http";
import type { DoorOutlet } from "../door/call/door-call.ts";
import { untilTaken } from "./untaken-bytes.ts";

/** No browser takes an answer for something else than it says it is. */
export const NO_SNIFFING = ["x-content-type-options", "nosniff"] as const;

/** What may be on its way to a client, and how much is written until that is looked at again. */
const MOST_UNTAKEN_BYTES = 64 * 1024;
const LOOK_BYTES = 128 * 1024;

export function nodeOutlet(outgoing: ServerResponse): DoorOutlet & { closed: Promise<void> } {
  const gone = new AbortController();
  const closed = new Promise<void>((resolve) => {
    outgoing.once("close", () => {
      if (!outgoing.writableFinished)
        gone.abort(new DOMException("The client went away.", "AbortError"));
      resolve();
    });
  });
  /** Since it was looked at last. */
  let writtenBytes = 0;
  return {
    gone: gone.signal,
    closed,
    get hasBegun() {
      return outgoing.headersSent;
    },
    begin(status, headers) {
      if (gone.signal.aborted) return;
      // What a model server says of its own time and connection is not said twice.
      outgoing.sendDate = !headers.some(([name]) => name.toLowerCase() === "date");
      const isSniffed = !headers.some(([name]) => name.toLowerCase() === NO_SNIFFING[0]);
      outgoing.writeHead(status, [...headers, ...(isSniffed ? [NO_SNIFFING] : [])].flat());
      outgoing.flushHeaders();
    },
    async write(bytes) {
      if (gone.signal.aborted) return;
      writtenBytes += bytes.length;
      if (!outgoing.write(bytes))
        await Promise.race([
          closed,
          new Promise<void>((resolve) => outgoing.once("drain", resolve)),
        ]);
    },
    async hasTaken() {
      if (writtenBytes < LOOK_BYTES || gone.signal.aborted || outgoing.socket === null) return;
      writtenBytes = 0;
      await Promise.race([closed, untilTaken(outgoing.socket, MOST_UNTAKEN_BYTES)]);
    },
    end() {
      outgoing.end();
    },
    breakOff() {
      outgoing.destroy();
    },
  };
}
