// Reads the stream of a turn to its end, over as many connections as that takes.
import type { StreamedEvent } from "../src/http/event-stream.ts";
import { readPlacedEvents } from "../src/http/read-events.ts";
import { ApiError } from "./http.ts";

export interface ResumedTurn {
  /** `since`: id of the last event that was heard. Undefined: none was. */
  ask(since: string | undefined): Promise<Response>;
  /** Undefined: it is not asked again. */
  waitMs(attempt: number): number | undefined;
}

/** Half a minute in all: a gateway that is started again is there by then. */
export const PATIENT = (attempt: number): number | undefined =>
  attempt < 20 ? Math.min(2000, 200 * 2 ** attempt) : undefined;

/** Throws what `ask` throws the first time, and when it was asked often enough in vain. */
export async function* resumeTurn({ ask, waitMs }: ResumedTurn): AsyncGenerator<StreamedEvent> {
  let since: string | undefined;
  for (let attempt = 0; ; ) {
    try {
      const response = await ask(since);
      for await (const { event, id } of response.body === null
        ? []
        : readPlacedEvents(response.body)) {
        if (event.type === "error" && since !== undefined && GOES_ON.has(event.error.code)) break;
        if (id !== "") since = id;
        attempt = 0;
        yield event;
        if (event.type === "done" || event.type === "error") return;
      }
      // It has heard all there is.
      if (response.status === 204) return;
    } catch (error) {
      if (since === undefined || !isAway(error) || waitMs(attempt) === undefined) throw error;
    }
    const ms = since === undefined ? undefined : waitMs(attempt++);
    if (ms === undefined) return;
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

/** What ends a stream, and not what it tells of. */
const GOES_ON: ReadonlySet<string> = new Set(["AWAY", "GATEWAY_STOPPING", "SESSION_LOCKED"]);

/** A stream that breaks off rejects with whatever the browser says. */
const isAway = (error: unknown): boolean => !(error instanceof ApiError) || GOES_ON.has(error.code);
