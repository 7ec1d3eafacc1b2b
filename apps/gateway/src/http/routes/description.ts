// Tells programs what the HTTP API is like.
import type { Hono } from "hono";
import { describeApi } from "../openapi.ts";

/** To be added anywhere: it tells of the routes that there are when it is asked. */
export function addDescriptionRoute(app: Hono, version: string): void {
  let described: object | undefined;
  app.get("/api/openapi.json", (context) => {
    described ??= describeApi(app.routes, version);
    return context.json(described);
  });
}
