// Tells supervisors and monitors how the gateway is, in their own forms.
import type { Hono } from "hono";
import type { Gateway } from "../../gateway.ts";
import { type Callers, scopeOf } from "../access/caller.ts";
import { whyNotReady } from "./why-not-ready.ts";

export interface ReadyOptions {
  gateway: Gateway;
  callers: Callers;
}

export function addReadyRoutes(app: Hono, { gateway, callers }: ReadyOptions): void {
  app.get("/healthz", (context) => context.json({ status: "ok" }));

  app.get("/readyz", async (context) => {
    const reasons = await whyNotReady(gateway);
    const isTold = !callers.needsToken || scopeOf(callers.of(context)) !== null;
    const status = reasons.length === 0 ? "ready" : "not-ready";
    const body = { status, ...(isTold && reasons.length > 0 && { reasons }) };
    return context.json(body, reasons.length === 0 ? 200 : 503);
  });

  app.get("/metrics", async (context) => {
    const { text, contentType } = await gateway.metrics();
    return context.body(text, 200, { "content-type": contentType });
  });
}
