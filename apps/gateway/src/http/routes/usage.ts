// Tells what model calls cost.
import type { Hono } from "hono";
import type { Gateway } from "../../gateway.ts";

export function addUsageRoutes(app: Hono, gateway: Gateway): void {
  app.get("/api/usage", async (context) => context.json(await gateway.usage()));

  app.get("/api/sessions/:key/usage", async (context) =>
    context.json(await gateway.usage(context.req.param("key"))),
  );
}
