// Reads from a request where a client left off that comes back to a stream.
import type { Context } from "hono";
import { type EventPlace, parsePlace } from "../../streams/event-place.ts";

/** Undefined: it comes for the first time. Who has no headers of its own names it in the query. */
export function readPlace({
  req,
}: Context): { place: EventPlace | undefined } | { problem: string } {
  const id = req.header("last-event-id") ?? req.query("lastEventId");
  if (id === undefined || id === "") return { place: undefined };
  const place = parsePlace(id);
  return place === undefined
    ? {
        problem:
          "Last-Event-ID is none of an event of this stream; send the id of the last event as it came, or leave it out to hear all of it.",
      }
    : { place };
}

/** A browser does not come back for more. */
export const heardAll = (): Response => new Response(null, { status: 204 });
