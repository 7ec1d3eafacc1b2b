// What the HTTP API tells of sessions, how it deletes one, and how it cancels a run.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import type { Hono } from "hono";
import type { Gateway } from "../../gateway.ts";
import { shortName } from "../../sessions/keys.ts";
import { sessionNotFound } from "../../sessions/name-errors.ts";
import { type Callers, personAt } from "../access/caller.ts";
import { limitOf } from "../asked-number.ts";
import { refuse } from "../errors.ts";

const DEFAULT_ENTRIES = 200;
const DEFAULT_SESSIONS = 200;
const MOST_SESSIONS = 1000;
const MOST_MESSAGES = 1000;

const FOR_THE_PERSON =
  "Who deletes a session has to be the person of this home: use clew sessions delete, send the token of gateway.auth.token (Authorization: Bearer), or open the link that clew approvals link prints.";

export function addSessionRoutes(
  app: Hono,
  gateway: Gateway,
  { callers }: { callers: Callers },
): void {
  app.get("/api/sessions", async (context) => {
    const { limit, after, find, all } = context.req.query();
    const many = limitOf(limit, { standard: DEFAULT_SESSIONS, most: MOST_SESSIONS });
    const asked = { limit: many, after, find, all: all === "true" };
    return context.json(await gateway.sessionPage(asked));
  });

  app.get("/api/sessions/:key", async (context) => {
    const key = context.req.param("key");
    const limit = limitOf(context.req.query("limit"), { standard: DEFAULT_ENTRIES });
    const found = await gateway.page(key, limit);
    if (found === null) throw sessionNotFound(key);
    const { header, file: _file, ...page } = found;
    return context.json({ ...page, createdAt: header.timestamp });
  });

  app.delete("/api/sessions/:key", async (context) => {
    if (personAt(callers.of(context)) === undefined)
      return refuse(context, "FORBIDDEN", FOR_THE_PERSON);
    const key = gateway.canonicalKey(context.req.param("key"));
    await gateway.remove(key);
    return context.json({ removed: key });
  });

  app.get("/api/sessions/:key/transcript", async (context) => {
    const key = context.req.param("key");
    const found = await gateway.store.withFile(gateway.canonicalKey(key));
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
    const many = { standard: DEFAULT_ENTRIES, most: MOST_MESSAGES };
    const messages = await gateway.messages(key, limitOf(context.req.query("limit"), many));
    if (messages === null) throw sessionNotFound(key);
    return context.json({ messages });
  });

  app.get("/api/sessions/:key/status", async (context) =>
    context.json(await gateway.status(context.req.param("key"))),
  );

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

  app.post("/api/sessions/:key/abort", async (context) => {
    const key = context.req.param("key");
    const aborted = gateway.cancel(key);
    return context.json({ aborted, waiting: (await gateway.waiting.list(key)).length });
  });
}
