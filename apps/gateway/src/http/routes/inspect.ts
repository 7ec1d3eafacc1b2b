// What the HTTP API tells of model calls and what became of each entry in them.
import type { Hono } from "hono";
import type { Gateway } from "../../gateway.ts";
import { sentRequest } from "../../inspect/rebuild.ts";
import { limitOf, placeOf } from "../asked-number.ts";
import { refuse } from "../errors.ts";

const DEFAULT_CALLS = 500;
const DEFAULT_ENTRIES = 200;
const DEFAULT_ITEMS = 1000;
const MOST = 5000;

export function addInspectRoutes(app: Hono, gateway: Gateway): void {
  const session = "/api/sessions/:key";

  app.get(`${session}/calls`, async (context) => {
    const inspector = await gateway.inspect(context.req.param("key"));
    const limit = countOf(context.req.query("limit"), DEFAULT_CALLS);
    const { after, before } = context.req.query();
    const page = await inspector.calls({ after, before, limit });
    return page === null ? refuse(context, "NOT_FOUND", NO_CALL) : context.json(page);
  });

  app.get(`${session}/turn`, async (context) => {
    const underWay = await gateway.turnUnderWay(context.req.param("key"));
    return context.json({ underWay });
  });

  app.get(`${session}/calls/:id`, async (context) => {
    const { key, id } = context.req.param();
    const limit = context.req.query("limit");
    const first = limit === undefined ? undefined : countOf(limit, MOST);
    const inspector = await gateway.inspect(key);
    const view = await inspector.call(id, first);
    if (view !== null) return context.json(view);
    const gone = await inspector.whyGone(id);
    return refuse(
      context,
      "NOT_FOUND",
      gone === null ? NO_CALL : `${NO_CALL} Of those before, ${gone}.`,
    );
  });

  app.get(`${session}/calls/:id/items`, async (context) => {
    const { key, id } = context.req.param();
    const { skip, limit } = context.req.query();
    const asked = { skip: placeOf("skip", skip) ?? 0, limit: countOf(limit, DEFAULT_ITEMS) };
    const page = await (await gateway.inspect(key)).items(id, asked);
    return page === null ? refuse(context, "NOT_FOUND", NO_CALL) : context.json(page);
  });

  app.get(`${session}/calls/:id/proof`, async (context) => {
    const { key, id } = context.req.param();
    const proof = await (await gateway.inspect(key)).proof(id);
    return proof === null ? refuse(context, "NOT_FOUND", NO_CALL) : context.json(proof);
  });

  app.get(`${session}/calls/:id/items/:part/:index`, async (context) => {
    const { key, id, part, index } = context.req.param();
    const isPart = part === "system" || part === "tools" || part === "messages";
    const item = isPart ? await (await gateway.inspect(key)).item(id, part, Number(index)) : null;
    return item === null ? refuse(context, "NOT_FOUND", NO_ITEM) : context.json(item);
  });

  app.get(`${session}/calls/:id/request`, async (context) => {
    const { key, id } = context.req.param();
    const form = context.req.query("form") ?? "full";
    if (form !== "sent" && form !== "full") return refuse(context, "REQUEST_INVALID", NO_FORM);
    const request = await (await gateway.inspect(key)).request(id);
    if (request === null) return refuse(context, "NOT_FOUND", NO_CALL);
    if (form === "full") return context.json(request);
    const sent = sentRequest(request);
    if (sent === null) return refuse(context, "NOT_FOUND", request.why ?? NO_CALL);
    return context.body(sent, 200, { "content-type": "application/json" });
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
      ...{ call, fate, after: placeOf("after", after), skip: placeOf("skip", skip) },
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
    const { after, limit } = context.req.query();
    const asked = {
      ...{ text, after: placeOf("after", after) },
      limit: countOf(limit, DEFAULT_ENTRIES),
    };
    return context.json(await (await gateway.inspect(context.req.param("key"))).find(asked));
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
const NO_ENTRY =
  "There is no such entry in this call, by its id or number; it may be of a later one.";
const NO_FORM =
  'The forms of a request are "full", which is given where none is named, and "sent"; name one of them.';
const NO_ITEM = "There is no such item in this call.";

/** More than the most are so many: the next page holds the rest. */
const countOf = (text: string | undefined, standard: number): number =>
  limitOf(text, { standard, most: MOST });
