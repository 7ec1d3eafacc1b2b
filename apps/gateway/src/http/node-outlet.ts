// Writes the answers of the door to their connection, so that no byte of them changes.
import type { ServerResponse } from "node:http";
import type { DoorOutlet } from "../door/call/door-call.ts";

export function nodeOutlet(outgoing: ServerResponse): DoorOutlet & { closed: Promise<void> } {
  const gone = new AbortController();
  const closed = new Promise<void>((resolve) => {
    outgoing.once("close", () => {
      if (!outgoing.writableFinished)
        gone.abort(new DOMException("The client went away.", "AbortError"));
      resolve();
    });
  });
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
      outgoing.writeHead(status, headers.flat());
      outgoing.flushHeaders();
    },
    async write(bytes) {
      if (gone.signal.aborted || outgoing.write(bytes)) return;
      await Promise.race([closed, new Promise<void>((resolve) => outgoing.once("drain", resolve))]);
    },
    end() {
      outgoing.end();
    },
    breakOff() {
      outgoing.destroy();
    },
  };
}
