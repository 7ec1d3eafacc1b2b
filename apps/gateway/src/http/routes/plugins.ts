// The part of the HTTP API that is about engine and plugins.
import type { Hono } from "hono";
import type { Gateway } from "../../gateway.ts";
import { describeEngine, pluginProblem } from "../../plugins/engines/describe-engine.ts";
import { notOffered } from "../../plugins/invalid.ts";
import { parseSessionName } from "../../sessions/keys.ts";
import { refuse } from "../errors.ts";
import { readObject } from "../object-body.ts";

const BAD_BODY =
  'The body of an action\'s request is { "session": "…", "payload": … }, with one of them or both, or nothing.';

export function addPluginRoutes(app: Hono, gateway: Gateway): void {
  const agentIdOf = (key: string | undefined) =>
    parseSessionName(gateway.canonicalKey(key ?? "main"))?.agentId ?? "main";

  app.get("/api/engine", async (context) => {
    const session = context.req.query("session");
    const status =
      session === undefined
        ? await gateway.host.engineStatus(agentIdOf(undefined))
        : await gateway.engine(session);
    return context.json({
      ...status,
      text: describeEngine(status, pluginProblem(status, gateway.plugins)),
    });
  });

  app.get("/api/plugins", (context) => context.json({ plugins: gateway.plugins?.records() ?? [] }));

  app.post("/api/plugins/reload", async (context) =>
    context.json({ plugins: await gateway.reloadPlugins() }),
  );

  app.post("/api/plugins/:id/actions/:action", async (context) => {
    const { id, action } = context.req.param();
    const body = readObject(await context.req.text());
    if (body === undefined) return refuse(context, "REQUEST_INVALID", BAD_BODY);
    const { session, payload } = body;
    const sessionKey = gateway.canonicalKey(typeof session === "string" ? session : "main");
    const sessionId = (await gateway.store.find(sessionKey))?.sessionId;
    const scope = {
      agentId: agentIdOf(sessionKey),
      sessionKey,
      ...(sessionId !== undefined && { sessionId }),
    };
    if (gateway.plugins === undefined) throw notOffered("This gateway runs without plugins.");
    return context.json({
      result: (await gateway.plugins.sessionAction(id, action, { payload, scope })) ?? null,
    });
  });
}
