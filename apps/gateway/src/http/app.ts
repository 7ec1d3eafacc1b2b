// The HTTP API: what each address answers. Written down in apps/gateway/README.md.
import type { LogPort, TurnEvent } from "@clew/engine-core";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { parseLine } from "../commands/parse.ts";
import type { Gateway } from "../gateway.ts";
import {
  type GatewayIdentity,
  isProvenRequest,
  proofOfGateway,
  REQUEST_PROOF,
} from "../home/identity.ts";
import { addPluginRoutes } from "../plugins/http.ts";
import { shownEntries } from "../sessions/shown.ts";
import type { Approve } from "../tools/tool.ts";
import { toErrorResponse } from "./errors.ts";
import { eventStream, shownEvent } from "./event-stream.ts";
import { refuseForeign } from "./guard.ts";
import { parseMessageBody, type SentMessage } from "./message-body.ts";
import { PAGE_HEADERS, type PageFile } from "./page.ts";
import { hasToken } from "./token.ts";

const MAX_BODY_BYTES = 32 * 1024 * 1024;
const DEFAULT_ENTRIES = 200;

export interface AppOptions {
  gateway: Gateway;
  log: LogPort;
  /** The port the server listens on, known once it does. */
  port: () => number;
  page: ReadonlyMap<string, PageFile>;
  version: string;
  identity: GatewayIdentity;
}

export function createApp({ gateway, log, port, page, version, identity }: AppOptions): Hono {
  const app = new Hono();
  const startedAt = performance.now();
  const notFound = (what: string) => ({ error: { code: "NOT_FOUND", message: what } });

  app.use(async (context, next) => {
    const reason = refuseForeign({
      host: context.req.header("host"),
      origin: context.req.header("origin"),
      port: port(),
    });
    if (reason !== null)
      return context.json({ error: { code: "FORBIDDEN", message: reason } }, 403);
    return next();
  });
  app.use("/api/*", async (context, next) => {
    const proof = context.req.header(REQUEST_PROOF);
    if (proof === undefined || isProvenRequest(identity.secret, proof, context.req)) return next();
    const message = "The request is meant for the gateway of another home.";
    return context.json({ error: { code: "FORBIDDEN", message } }, 403);
  });
  app.use("/api/*", bodyLimit({ maxSize: MAX_BODY_BYTES }));
  app.onError((error, context) => {
    const { status, body } = toErrorResponse(error);
    if (status === 500)
      log.error(`${context.req.method} ${context.req.path} failed: ${error.message}`);
    return context.json(body, status);
  });
  app.notFound((context) =>
    context.json(notFound(`There is nothing at ${context.req.path}.`), 404),
  );

  app.get("/api/health", (context) => {
    const { host } = gateway;
    const engine = {
      configured: (gateway.plugins?.settings() ?? host.config.plugins).slots?.contextEngine ?? null,
      known: host.engineIds(),
      quarantined: host.quarantined(),
    };
    const model = host.config.agents.defaults.model.primary;
    return context.json({
      status: "ok",
      version,
      pid: process.pid,
      startedAt: identity.startedAt,
      uptimeMs: Math.round(performance.now() - startedAt),
      home: identity.homeHash,
      proof: proofOfGateway(identity.secret, {
        port: port(),
        nonce: context.req.query("nonce"),
      }),
      model,
      engine,
    });
  });

  addPluginRoutes(app, gateway);

  app.get("/api/sessions", async (context) => context.json({ sessions: await gateway.sessions() }));

  app.get("/api/sessions/:key", async (context) => {
    const key = context.req.param("key");
    const found = await gateway.session(key);
    if (found === null) return context.json(notFound(`There is no session "${key}".`), 404);
    const { header, branch, file: _file, ...summary } = found;
    const limit = Number(context.req.query("limit") ?? DEFAULT_ENTRIES) || DEFAULT_ENTRIES;
    return context.json({
      ...summary,
      createdAt: header.timestamp,
      totalEntries: branch.length,
      entries: shownEntries(branch, limit),
    });
  });

  app.get("/api/sessions/:key/context", async (context) => {
    const key = context.req.param("key");
    const view = await gateway.context(key);
    return view === null
      ? context.json(notFound(`No model was called in session "${key}" yet.`), 404)
      : context.json(view);
  });

  app.get("/api/sessions/:key/context/:part/:index", async (context) => {
    const { key, part, index } = context.req.param();
    const isPart = part === "system" || part === "tools" || part === "messages";
    const text = isPart ? await gateway.contextItem(key, part, Number(index)) : null;
    return text === null
      ? context.json(notFound("There is no such item."), 404)
      : context.text(text);
  });

  app.post("/api/sessions/:key/abort", (context) =>
    context.json({ aborted: gateway.cancel(context.req.param("key")) }),
  );

  app.post("/api/sessions/:key/messages", async (context) => {
    const isJson = context.req.header("content-type")?.split(";")[0]?.trim() === "application/json";
    const parsed = isJson
      ? parseMessageBody(await context.req.json().catch(() => undefined))
      : { problem: "the body must be application/json" };
    if ("problem" in parsed)
      return context.json({ error: { code: "BAD_REQUEST", message: parsed.problem } }, 400);
    const { token } = gateway.host.config.gateway.auth ?? {};
    if (
      parsed.message.allowTools.length > 0 &&
      !hasToken(context.req.header("authorization"), token)
    ) {
      const message = "allowTools needs the token of gateway.auth.token as Authorization: Bearer.";
      return context.json({ error: { code: "FORBIDDEN", message } }, 403);
    }
    const key = gateway.canonicalKey(context.req.param("key"));
    return new Response(streamTurn(gateway, log, key, parsed.message), {
      headers: {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
      },
    });
  });

  app.get("*", (context) => {
    const file = page.get(context.req.path);
    if (file !== undefined)
      return context.body(file.bytes, 200, { ...PAGE_HEADERS, "content-type": file.type });
    if (context.req.path === "/")
      return context.text("Clew is running. The page is not built; the API is at /api/health.\n");
    return context.notFound();
  });
  return app;
}

/** The run goes on when the client goes away, unless it asked otherwise; the reply is in the transcript either way. */
function streamTurn(
  gateway: Gateway,
  log: LogPort,
  key: string,
  { content, onDisconnect, allowTools }: SentMessage,
): ReadableStream<Uint8Array> {
  const gone = new AbortController();
  const stream = eventStream(() => {
    if (onDisconnect === "abort")
      gone.abort(new DOMException("The client went away.", "AbortError"));
  });
  stream.send({ type: "queued" });
  const show = (event: TurnEvent) => {
    const shown = shownEvent(event);
    if (shown !== undefined) stream.send(shown);
  };
  const approve: Approve = async ({ call }) =>
    allowTools.includes("*") || allowTools.includes(call.name);
  const answer = async () => {
    const line = typeof content === "string" ? parseLine(content) : undefined;
    if (line?.kind === "command") {
      const answer = await gateway.command(key, line, { signal: gone.signal, onEvent: show });
      stream.send({ type: "command", ...answer });
      return stream.send({
        type: "done",
        outcome: "completed",
        error: null,
        turnId: null,
        replyEntryId: null,
      });
    }
    const message = line?.text ?? content;
    const { outcome, error, report } = await gateway.send({
      key,
      content: message,
      signal: gone.signal,
      onEvent: show,
      approve,
    });
    stream.send({
      type: "done",
      outcome,
      error,
      turnId: report.turnId,
      replyEntryId: report.replyEntryId,
    });
  };
  answer()
    .catch((error: unknown) => {
      const { status, body } = toErrorResponse(error);
      if (status === 500)
        log.error(
          `turn in ${key} failed: ${error instanceof Error ? error.message : String(error)}`,
        );
      stream.send({ type: "error", ...body });
    })
    .finally(stream.end);
  return stream.body;
}
