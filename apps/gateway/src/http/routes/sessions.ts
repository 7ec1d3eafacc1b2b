// What the HTTP API tells of sessions, and how it cancels a run.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import type { Hono } from "hono";
import type { Gateway } from "../../gateway.ts";
import { shortName } from "../../sessions/keys.ts";
import { sessionNotFound } from "../../sessions/name-errors.ts";
import { refuse } from "../errors.ts";

const DEFAULT_ENTRIES = 200;

export function addSessionRoutes(app: Hono, gateway: Gateway): void {
  app.get("/api/sessions", async (context) => context.json({ sessions: await gateway.sessions() }));

  app.get("/api/sessions/:key", async (context) => {
    const key = context.req.param("key");
    const limit = Number(context.req.query("limit") ?? DEFAULT_ENTRIES) || DEFAULT_ENTRIES;
    const found = await gateway.page(key, limit);
    if (found === null) throw sessionNotFound(key);
    const { header, file: _file, ...page } = found;
    return context.json({ ...page, createdAt: header.timestamp });
  });

  app.get("/api/sessions/:key/transcript", async (context) => {
    const key = context.req.param("key");
    const found = await gateway.store.find(gateway.canonicalKey(key));
    if (found === null) throw sessionNotFound(key);
    const name = shortName(found.key).replaceAll(/[^\w.-]+/g, "_");
    const { size } = await stat(found.file);
    // What is written meanwhile is left out, so that the last line is whole.
    const file = createReadStream(found.file, { end: Math.max(0, size - 1) });
    return new Response(Readable.toWeb(file) as ReadableStream<Uint8Array>, {
      headers: {
        "content-type": "application/octet-stream",
        "content-disposition": `attachment; filename="${name}.jsonl"`,
        "cache-control": "no-store",
      },
    });
  });

  app.get("/api/sessions/:key/messages", async (context) => {
    const key = context.req.param("key");
    const asked = Number(context.req.query("limit") ?? DEFAULT_ENTRIES) || DEFAULT_ENTRIES;
    const messages = await gateway.messages(key, Math.min(1000, Math.max(1, Math.floor(asked))));
    if (messages === null) throw sessionNotFound(key);
    return context.json({ messages });
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

  app.post("/api/sessions/:key/engine/retry", async (context) => {
    const key = context.req.param("key");
    if ((await gateway.store.find(gateway.canonicalKey(key))) === null) throw sessionNotFound(key);
    const retry = { kind: "command", name: "engine", args: "retry" } as const;
    const { ok, text, data } = await gateway.command(key, retry);
    return ok ? context.json({ text, data }) : refuse(context, "SESSION_LOCKED", text);
  });

  app.post("/api/sessions/:key/abort", (context) =>
    context.json({ aborted: gateway.cancel(context.req.param("key")) }),
  );
}
