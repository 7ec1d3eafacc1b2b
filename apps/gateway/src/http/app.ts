// Joins guards and routes into the app that the HTTP server runs.
import type { LogPort } from "@clew/engine-core";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { GatewayConfig } from "../config/gateway.ts";
import type { Gateway } from "../gateway.ts";
import type { GatewayIdentity } from "../home/identity.ts";
import { describeBytes } from "../limits/size.ts";
import { gatewayStopping } from "../stopping.ts";
import type { Callers } from "./access/caller.ts";
import { addAccessGuards } from "./access/guards.ts";
import { errorHandler, refuse } from "./errors.ts";
import type { PageFile } from "./page.ts";
import { addAcpRoutes } from "./routes/acp.ts";
import { addApprovalRoutes } from "./routes/approvals.ts";
import { addDescriptionRoute } from "./routes/description.ts";
import { addDoorRoutes } from "./routes/door.ts";
import { addElsewhere } from "./routes/elsewhere.ts";
import { addEventRoute } from "./routes/events.ts";
import { addHealthRoute } from "./routes/health.ts";
import { addInspectRoutes } from "./routes/inspect.ts";
import { addLabRoutes } from "./routes/lab.ts";
import { addMcpRoutes } from "./routes/mcp.ts";
import { addMessageRoute } from "./routes/messages.ts";
import { addLinkRoute, addPageRoute } from "./routes/page.ts";
import { addPluginOffers, pluginRouteAt } from "./routes/plugin-offers.ts";
import { addPluginRoutes } from "./routes/plugins.ts";
import { addReadyRoutes } from "./routes/ready.ts";
import { addSessionRoutes } from "./routes/sessions.ts";
import { addStopRoute } from "./routes/stop.ts";
import { addStreamRoute } from "./routes/stream.ts";
import { addUsageRoutes } from "./routes/usage.ts";
import { addWaitingRoutes } from "./routes/waiting.ts";

export interface AppOptions {
  gateway: Gateway;
  log: LogPort;
  /** The port the server listens on, known once it does. */
  port: () => number;
  page: ReadonlyMap<string, PageFile>;
  version: string;
  identity: GatewayIdentity;
  callers: Callers;
  settings: Pick<GatewayConfig, "bind" | "hosts" | "limits">;
  /** Somebody who may wants the gateway to end. Absent: nobody can. */
  onStop?: ((graceMs: number | undefined) => void) | undefined;
}

export function createApp(options: AppOptions): Hono {
  const { gateway, log, page, identity, callers, port } = options;
  const { bind, hosts, limits } = options.settings;
  const app = new Hono();
  const onWrongKey = addAccessGuards(app, {
    ...{ identity, callers, log, requestsPerMinute: limits.requestsPerMinute },
    names: () => ({ port: port(), isOpenToNetwork: bind === "lan", hosts }),
    isPluginsOwn: (path) => {
      const route = pluginRouteAt(gateway, page, path);
      return route !== undefined && route.auth !== "gateway";
    },
  });
  addLimits(app, options);
  addElsewhere(app, gateway, { callers, log });
  app.onError(errorHandler(log));
  app.notFound((context) =>
    refuse(context, "NOT_FOUND", `There is nothing at ${context.req.path}.`),
  );
  addHealthRoute(app, options);
  addReadyRoutes(app, { gateway, callers });
  addStopRoute(app, { callers, onStop: options.onStop });
  addPluginRoutes(app, gateway);
  addSessionRoutes(app, gateway, { callers });
  addInspectRoutes(app, gateway);
  addUsageRoutes(app, gateway);
  addMessageRoute(app, gateway, { callers, log });
  addStreamRoute(app, gateway, { callers, log });
  addWaitingRoutes(app, gateway);
  addEventRoute(app, gateway);
  addAcpRoutes(app, gateway, { callers, log });
  addLabRoutes(app, gateway);
  addDoorRoutes(app, gateway, { callers, bodyBytes: limits.bodyBytes, log });
  addDescriptionRoute(app, options.version);
  addApprovalRoutes(app, gateway, callers);
  addMcpRoutes(app, gateway);
  addLinkRoute(app, { callers, onWrongKey });
  addPluginOffers(app, gateway, { callers, page, log });
  addPageRoute(app, page);
  return app;
}

/** It is answered to the end: by it others learn whose gateway this is. */
const HEALTH = "/api/health";

function addLimits(app: Hono, { gateway, settings }: AppOptions): void {
  const { bodyBytes } = settings.limits;
  const tooLarge = `The request is larger than ${describeBytes(bodyBytes)} (gateway.limits.bodyBytes); send less, or name files the model can read.`;
  app.use("/api/*", (context, next) => {
    if (gateway.isStopping() && context.req.path !== HEALTH) throw gatewayStopping();
    context.req.raw = ofThePlatform(context.req.raw);
    return next();
  });
  app.use(
    "/api/*",
    bodyLimit({
      maxSize: bodyBytes,
      onError(context) {
        // What is left of the body is not read, so nothing else can come this way.
        context.header("connection", "close");
        return refuse(context, "BODY_TOO_LARGE", tooLarge);
      },
    }),
  );
}

/** The limit makes a request of one that tells no length: Node lets it do so with its own only. */
function ofThePlatform(raw: Request): Request {
  const { url, method, headers, signal } = raw;
  if (method === "GET" || method === "HEAD" || headers.has("content-length")) return raw;
  const given = { method, headers, signal, body: raw.body, duplex: "half" };
  return new Request(url, given as RequestInit);
}
