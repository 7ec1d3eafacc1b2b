// What the HTTP API tells of model calls and what became of each entry in them.
import type { Hono } from "hono";
import type { Gateway } from "../../gateway.ts";
import { refuse } from "../errors.ts";

const DEFAULT_CALLS = 500;
const DEFAULT_ENTRIES = 200;
const MOST = 5000;

export function addInspectRoutes(app: Hono, gateway: Gateway): void {
  const session = "/api/sessions/:key";

  app.get(`${session}/calls`, async (context) => {
    const inspector = await gateway.inspect(context.req.param("key"));
    const limit = countOf(context.req.query("limit"), DEFAULT_CALLS);
    const page = await inspector.calls({ after: context.req.query("after"), limit });
    return page === null ? refuse(context, "NOT_FOUND", NO_CALL) : context.json(page);
  });

  app.get(`${session}/calls/:id`, async (context) => {
    const { key, id } = context.req.param();
    const view = await (await gateway.inspect(key)).call(id);
    return view === null ? refuse(context, "NOT_FOUND", NO_CALL) : context.json(view);
  });

  app.get(`${session}/calls/:id/items/:part/:index`, async (context) => {
    const { key, id, part, index } = context.req.param();
    const isPart = part === "system" || part === "tools" || part === "messages";
    const item = isPart ? await (await gateway.inspect(key)).item(id, part, Number(index)) : null;
    return item === null ? refuse(context, "NOT_FOUND", NO_ITEM) : context.json(item);
  });

  app.get(`${session}/calls/:id/request`, async (context) => {
    const { key, id } = context.req.param();
    const request = await (await gateway.inspect(key)).request(id);
    return request === null ? refuse(context, "NOT_FOUND", NO_CALL) : context.json(request);
  });

  app.get(`${session}/calls/:from/diff/:to`, async (context) => {
    const { key, from, to } = context.req.param();
    const diff = await (await gateway.inspect(key)).diff(from, to);
    return diff === null ? refuse(context, "NOT_FOUND", NO_CALL) : context.json(diff);
  });

  app.get(`${session}/entries`, async (context) => {
    const inspector = await gateway.inspect(context.req.param("key"));
    const { call, fate, after, skip, limit } = context.req.query();
    const page = await inspector.entries({
      ...{ call, fate, after: placeOf(after), skip: placeOf(skip) },
      limit: countOf(limit, DEFAULT_ENTRIES),
    });
    return page === null ? refuse(context, "NOT_FOUND", NO_CALL) : context.json(page);
  });

  app.get(`${session}/entries/:id/calls`, async (context) => {
    const { key, id } = context.req.param();
    const trace = await (await gateway.inspect(key)).trace(id);
    return trace === null
      ? refuse(context, "NOT_FOUND", "There is no such entry in the newest call's branch.")
      : context.json(trace);
  });

  app.get(`${session}/find`, async (context) => {
    const text = context.req.query("text") ?? "";
    if (text === "") return refuse(context, "REQUEST_INVALID", "Name what to find: ?text=…");
    return context.json(await (await gateway.inspect(context.req.param("key"))).find(text));
  });

  app.get(`${session}/entries/:id`, async (context) => {
    const { key, id } = context.req.param();
    const entry = await (await gateway.inspect(key)).entry(id, context.req.query("call"));
    return entry === null ? refuse(context, "NOT_FOUND", NO_ENTRY) : context.json(entry);
  });

  app.get(`${session}/summaries/:id`, async (context) => {
    const { key, id } = context.req.param();
    const summary = await (await gateway.inspect(key)).summary(id);
    return summary === null
      ? refuse(context, "NOT_FOUND", "No call of this session showed such a summary.")
      : context.json(summary);
  });
}

const NO_CALL =
  "There is no such call in this session; the calls are listed at /api/sessions/:key/calls.";
const NO_ENTRY = "There is no such entry in this call; it may be of a later one.";
const NO_ITEM = "There is no such item in this call.";

const placeOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Math.max(0, Math.floor(Number(text)) || 0);

const countOf = (text: string | undefined, standard: number): number =>
  Math.min(MOST, Math.max(1, Math.floor(Number(text ?? standard)) || standard));
