// Tells a client that its reply was ended here, in the form of what it was told already.
import { headerOf, type RawHeaders } from "../../passing/raw-headers.ts";
import { answerWith, type DoorCall, type DoorOutlet } from "../call/door-call.ts";
import type { EndedHere } from "../call/under-way.ts";
import type { DoorAnswer, DoorWire } from "../wires/door-wire.ts";
import { errorStatus } from "./error-status.ts";
import { REPLY_WRITERS } from "./find-writer.ts";

export interface BegunAnswer {
  /** Of the model server. */
  headers: RawHeaders;
  /** The last bytes that were passed on; empty = none were. */
  tail: Uint8Array;
}

/** A stream of events can say it; any other answer that has begun breaks off. */
export function tellEnded(
  outlet: DoorOutlet,
  call: Pick<DoorCall, "wire" | "request">,
  {
    ended,
    named,
    begun,
  }: {
    ended: Pick<EndedHere, "by" | "message">;
    named: RawHeaders;
    /** Absent: nothing came of an answer. */
    begun?: BegunAnswer;
  },
): void {
  const answer = endedAnswer(call.wire, ended);
  if (!outlet.hasBegun) {
    answerWith(outlet, answer, named);
    return;
  }
  if (begun === undefined || !takesEvents(begun)) {
    outlet.breakOff();
    return;
  }
  const head = { id: "ended", model: call.request.model, createdAt: Date.now(), repeated: {} };
  const stream = REPLY_WRITERS[call.wire.api].stream(head, { usage: false, isEvents: true });
  void outlet.write(new TextEncoder().encode(stream.fail(answer)));
  outlet.end();
}

function endedAnswer(
  wire: DoorWire,
  { by, message }: Pick<EndedHere, "by" | "message">,
): DoorAnswer {
  switch (by) {
    case "person":
      return wire.error(errorStatus(wire.api, "aborted"), message);
    case "time":
      return tookTooLong(wire, message);
    case "stop":
      return wire.error(503, message);
  }
}

/** What is told, in either mode, of a reply that had all the time there is. */
export const tookTooLong = (wire: DoorWire, message: string): DoorAnswer => ({
  ...wire.error(errorStatus(wire.api, "timeout"), message),
  isWorthRepeating: false,
});

/** Between two events, and in plain bytes whose length nobody was told. */
function takesEvents({ headers, tail }: BegunAnswer): boolean {
  const text = new TextDecoder().decode(tail.subarray(-4));
  const isBetween = text === "" || /(\n\n|\r\n\r\n|\r\r)$/.test(text);
  const packing = headerOf(headers, "content-encoding") ?? "identity";
  return (
    isBetween &&
    packing === "identity" &&
    headerOf(headers, "content-length") === undefined &&
    headerOf(headers, "content-type")?.startsWith("text/event-stream") === true
  );
}
