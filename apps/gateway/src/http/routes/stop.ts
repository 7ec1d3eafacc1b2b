// Ends the gateway for the person of its home.
import type { Hono } from "hono";
import { type Callers, personAt } from "../access/caller.ts";
import { refuse } from "../errors.ts";

/** More than an hour is a mistake. */
const MOST_SECONDS = 3600;

export function addStopRoute(
  app: Hono,
  { callers, onStop }: { callers: Callers; onStop: ((graceMs?: number) => void) | undefined },
): void {
  app.post("/api/stop", (context) => {
    if (personAt(callers.of(context)) === undefined)
      return refuse(context, "FORBIDDEN", FOR_THE_PERSON);
    const grace = context.req.query("grace");
    const seconds = grace === undefined ? undefined : Number(grace);
    if (seconds !== undefined && !(seconds >= 0 && seconds <= MOST_SECONDS)) {
      const message = `"${grace}" is no time; say seconds from 0 to ${MOST_SECONDS}.`;
      return refuse(context, "REQUEST_INVALID", message);
    }
    if (onStop === undefined)
      return refuse(context, "NOT_FOUND", "This gateway ends with the program that it is part of.");
    onStop(seconds === undefined ? undefined : seconds * 1000);
    return context.json({ stopping: true });
  });
}

const FOR_THE_PERSON =
  "Who stops the gateway has to be the person of this home: use clew stop, send the token of gateway.auth.token (Authorization: Bearer), or open the link that clew approvals link prints.";
