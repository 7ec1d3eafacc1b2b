// Writes the answers of the door to their connection, so that no byte of them changes.
import type { ServerResponse } from "node:http";
import type { DoorOutlet } from "../door/call/door-call.ts";
import { awaitHeard } from "./heard.ts";
import { watchLoss } from "./lost-answer.ts";
import { untilTaken } from "./untaken-bytes.ts";

/** No browser takes an answer for something else than it says it is. */
export const NO_SNIFFING = ["x-content-type-options", "nosniff"] as const;

/** What may be on its way to a client, and how much is written until that is looked at again. */
const MOST_UNTAKEN_BYTES = 64 * 1024;
const LOOK_BYTES = 128 * 1024;

/** Whoever takes nothing for so long does not read, and is in the way of others. */
const STALLED_MS = 120_000;

export interface NodeOutlet extends DoorOutlet {
  /** Resolves when the system has taken all of the answer, or whoever asked has gone. */
  readonly closed: Promise<void>;
}

/** `isPassedOn`: another gateway asked, and tells when its client has all of the answer. */
export function nodeOutlet(
  outgoing: ServerResponse,
  { stalledMs = STALLED_MS, isPassedOn = false }: { stalledMs?: number; isPassedOn?: boolean } = {},
): NodeOutlet {
  const gone = new AbortController();
  const lost = new AbortController();
  gone.signal.addEventListener("abort", () => lost.abort(gone.signal.reason), { once: true });
  // It is not the answer's any more when that is over.
  const { socket } = outgoing;
  const onLeft = () => {
    const left = new DOMException("The client went away.", "AbortError");
    if (outgoing.writableFinished && !isPassedOn) lost.abort(left);
    else gone.abort(left);
  };
  const closed = new Promise<void>((resolve) => {
    outgoing.once("close", () => {
      if (!outgoing.writableFinished) onLeft();
      else if (isPassedOn && socket !== null) awaitHeard(socket, onLeft);
      resolve();
    });
  });
  if (!isPassedOn) watchLoss(outgoing, { onLeft });
  /** Until the client takes something, or nothing of it for too long. */
  const whileTaken = async (taken: Promise<void>) => {
    const stalled = setTimeout(() => {
      const seconds = stalledMs / 1000;
      gone.abort(new DOMException(`The client took nothing for ${seconds} s.`, "AbortError"));
      outgoing.destroy();
    }, stalledMs);
    try {
      await Promise.race([closed, taken]);
    } finally {
      clearTimeout(stalled);
    }
  };
  /** Since it was looked at last. */
  let writtenBytes = 0;
  return {
    gone: gone.signal,
    lost: lost.signal,
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
        await whileTaken(new Promise((resolve) => outgoing.once("drain", resolve)));
    },
    async hasTaken() {
      if (writtenBytes < LOOK_BYTES || gone.signal.aborted || outgoing.socket === null) return;
      writtenBytes = 0;
      await whileTaken(untilTaken(outgoing.socket, MOST_UNTAKEN_BYTES));
    },
    end() {
      outgoing.end();
    },
    breakOff() {
      outgoing.destroy();
    },
  };
}
