// Streams what happens in all sessions, or in one.
import type { Hono } from "hono";
import type { Gateway } from "../../gateway.ts";

export const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};

export function addEventRoute(app: Hono, gateway: Gateway): void {
  app.get("/api/events", ({ req }) => {
    const named = req.query("session");
    const session = named === undefined ? undefined : gateway.canonicalKey(named);
    // A browser that comes back keeps the address it began with.
    const since = req.header("last-event-id") ?? req.query("since");
    return new Response(gateway.events.follow({ since, session }), { headers: STREAM_HEADERS });
  });
}
