// What each address of the HTTP API answers.
import type { LogPort, TurnEvent } from "@clew/engine-core";
import { isAbort } from "@clew/plugin-sdk/core";
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
import { sessionNotFound } from "../sessions/name-errors.ts";
import { shownEntries } from "../sessions/shown.ts";
import type { Approve } from "../tools/tool.ts";
import { errorHandler, refuse, toErrorResponse } from "./errors.ts";
import { eventStream, shownEvent } from "./event-stream.ts";
import { refuseForeign } from "./guard.ts";
import { parseMessageBody, type SentMessage } from "./message-body.ts";
import { PAGE_HEADERS, type PageFile } from "./page.ts";
import { addPluginRoutes } from "./plugin-routes.ts";
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

  app.use(async (context, next) => {
    const reason = refuseForeign({
      host: context.req.header("host"),
      origin: context.req.header("origin"),
      port: port(),
    });
    return reason === null ? next() : refuse(context, "FORBIDDEN", reason);
  });
  app.use("/api/*", async (context, next) => {
    const proof = context.req.header(REQUEST_PROOF);
    if (proof === undefined || isProvenRequest(identity.secret, proof, context.req)) return next();
    return refuse(context, "FORBIDDEN", "The request is meant for the gateway of another home.");
  });
  app.use(
    "/api/*",
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError: (context) =>
        refuse(
          context,
          "BODY_TOO_LARGE",
          `The request is larger than ${MAX_BODY_BYTES / 1024 ** 2} MiB; send less, or name files the model can read.`,
        ),
    }),
  );
  app.onError(errorHandler(log));
  app.notFound((context) =>
    refuse(context, "NOT_FOUND", `There is nothing at ${context.req.path}.`),
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
    if (found === null) throw sessionNotFound(key);
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
      ? refuse(context, "NOT_FOUND", `No model has been called in session "${key}" yet.`)
      : context.json(view);
  });

  app.get("/api/sessions/:key/context/:part/:index", async (context) => {
    const { key, part, index } = context.req.param();
    const isPart = part === "system" || part === "tools" || part === "messages";
    const text = isPart ? await gateway.contextItem(key, part, Number(index)) : null;
    return text === null
      ? refuse(context, "NOT_FOUND", "There is no such item.")
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
      return refuse(context, "REQUEST_INVALID", `The message cannot be sent: ${parsed.problem}.`);
    const { token } = gateway.host.config.gateway.auth ?? {};
    if (
      parsed.message.allowTools.length > 0 &&
      !hasToken(context.req.header("authorization"), token)
    ) {
      const message =
        "allowTools needs the token of gateway.auth.token, sent as the header Authorization: Bearer.";
      return refuse(context, "FORBIDDEN", message);
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

/**
 * The run goes on when the client goes away, unless it asked otherwise; the reply is in
 * the transcript either way.
 */
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
      if (status >= 500 && !isAbort(error))
        log.error(
          `turn in ${key} failed: ${error instanceof Error ? error.message : String(error)}`,
        );
      stream.send({ type: "error", ...body });
    })
    .finally(stream.end);
  return stream.body;
}
