// Joins guards and routes into the app that the HTTP server runs.
import type { LogPort } from "@clew/engine-core";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Gateway } from "../gateway.ts";
import { type GatewayIdentity, isProvenRequest, REQUEST_PROOF } from "../home/identity.ts";
import { describeBytes } from "../limits/size.ts";
import { gatewayStopping } from "../stopping.ts";
import { errorHandler, refuse } from "./errors.ts";
import { refuseForeign } from "./guard.ts";
import type { PageFile } from "./page.ts";
import { addApprovalRoutes } from "./routes/approvals.ts";
import { addDescriptionRoute } from "./routes/description.ts";
import { addDoorRoutes } from "./routes/door.ts";
import { addEventRoute } from "./routes/events.ts";
import { addHealthRoute } from "./routes/health.ts";
import { addInspectRoutes } from "./routes/inspect.ts";
import { addLabRoutes } from "./routes/lab.ts";
import { addMessageRoute } from "./routes/messages.ts";
import { addPageRoute } from "./routes/page.ts";
import { addPluginOffers } from "./routes/plugin-offers.ts";
import { addPluginRoutes } from "./routes/plugins.ts";
import { addSessionRoutes } from "./routes/sessions.ts";
import { addUsageRoutes } from "./routes/usage.ts";

export interface AppOptions {
  gateway: Gateway;
  log: LogPort;
  /** The port the server listens on, known once it does. */
  port: () => number;
  page: ReadonlyMap<string, PageFile>;
  version: string;
  identity: GatewayIdentity;
  /** Most bytes of a request. */
  bodyBytes: number;
}

export function createApp(options: AppOptions): Hono {
  const { gateway, log, page } = options;
  const app = new Hono();
  addGuards(app, options);
  app.onError(errorHandler(log));
  app.notFound((context) =>
    refuse(context, "NOT_FOUND", `There is nothing at ${context.req.path}.`),
  );
  addHealthRoute(app, options);
  addPluginRoutes(app, gateway);
  addSessionRoutes(app, gateway);
  addInspectRoutes(app, gateway);
  addUsageRoutes(app, gateway);
  addMessageRoute(app, gateway, log);
  addEventRoute(app, gateway);
  addLabRoutes(app, gateway);
  addDoorRoutes(app, gateway, options.bodyBytes);
  addDescriptionRoute(app, options.version);
  const token = () => gateway.host.config.gateway.auth?.token;
  const trust = { identity: options.identity, token, port: options.port };
  addApprovalRoutes(app, gateway, trust);
  addPluginOffers(app, gateway, { ...trust, page, log });
  addPageRoute(app, page);
  return app;
}

/** It is answered to the end: by it others learn whose gateway this is. */
const HEALTH = "/api/health";

function addGuards(app: Hono, { gateway, port, identity, bodyBytes }: AppOptions): void {
  app.use(async (context, next) => {
    const { req } = context;
    const [host, origin] = [req.header("host"), req.header("origin")];
    const reason = refuseForeign({ host, origin, port: port() });
    return reason === null ? next() : refuse(context, "FORBIDDEN", reason);
  });
  app.use(async (context, next) => {
    const proof = context.req.header(REQUEST_PROOF);
    const { method, url } = context.req;
    const asked = { method, path: new URL(url).pathname };
    if (proof === undefined || isProvenRequest(identity.secret, proof, asked)) return next();
    return refuse(context, "FORBIDDEN", "The request is meant for the gateway of another home.");
  });
  app.use("/api/*", (context, next) => {
    if (gateway.isStopping() && context.req.path !== HEALTH) throw gatewayStopping();
    return next();
  });
  app.use("/api/*", (context, next) => {
    context.req.raw = ofThePlatform(context.req.raw);
    return next();
  });
  const tooLarge = `The request is larger than ${describeBytes(bodyBytes)} (gateway.limits.bodyBytes); send less, or name files the model can read.`;
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
