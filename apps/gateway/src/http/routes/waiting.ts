// What the HTTP API tells of messages that wait for their turn, and how they are taken back.
import type { Hono } from "hono";
import type { Gateway } from "../../gateway.ts";
import { refuse } from "../errors.ts";

export function addWaitingRoutes(app: Hono, gateway: Gateway): void {
  app.get("/api/sessions/:key/waiting", async (context) =>
    context.json({ waiting: await gateway.waiting.list(context.req.param("key")) }),
  );

  app.delete("/api/sessions/:key/waiting", async (context) =>
    context.json({ takenBack: await gateway.waiting.clear(context.req.param("key")) }),
  );

  app.delete("/api/sessions/:key/waiting/:id", async (context) => {
    const { key, id } = context.req.param();
    return (await gateway.waiting.takeBack(key, id))
      ? context.json({ takenBack: 1 })
      : refuse(context, "NOT_FOUND", "That message does not wait, or not any more.");
  });
}
