// Streams how a session would go with another engine, window or model.
import type { Hono } from "hono";
import type { Gateway } from "../../gateway.ts";
import { type WhatIfAsk, WhatIfAskSchema, type WhatIfEvent } from "../../lab/shapes.ts";
import { sessionNotFound } from "../../sessions/name-errors.ts";
import { limitOf } from "../asked-number.ts";
import { refuse } from "../errors.ts";

const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};

const MOST_CALLS = 1000;

export function addLabRoutes(app: Hono, gateway: Gateway): void {
  app.get("/api/sessions/:key/shadow", async (context) => {
    const key = context.req.param("key");
    const many = { standard: MOST_CALLS, most: MOST_CALLS };
    const view = await gateway.shadow(key, limitOf(context.req.query("limit"), many));
    return view === null
      ? refuse(
          context,
          "NOT_FOUND",
          `No shadow engine was handed any turn of session "${key}"; agents.defaults.shadowEngine names one.`,
        )
      : context.json(view);
  });

  app.post("/api/sessions/:key/whatif", async (context) => {
    const parsed = WhatIfAskSchema.safeParse(await context.req.json().catch(() => undefined));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const where = issue!.path.length === 0 ? "" : `${issue!.path.join(".")}: `;
      const message = `It cannot be played: ${where}${issue!.message}; send JSON such as {"engine":"lossless","contextWindow":32000}.`;
      return refuse(context, "REQUEST_INVALID", message);
    }
    const key = gateway.canonicalKey(context.req.param("key"));
    if ((await gateway.store.find(key)) === null) throw sessionNotFound(key);
    const playing = gateway.lab.playing();
    if (playing !== null)
      return refuse(
        context,
        "BUSY",
        `Session "${playing}" is being played; one is played at a time, so ask again in some seconds.`,
      );
    const body = streamPlay(gateway, key, parsed.data);
    return new Response(body, { headers: STREAM_HEADERS });
  });
}

/** Who stops listening ends it. */
function streamPlay({ lab }: Gateway, key: string, ask: WhatIfAsk): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const gone = new AbortController();
  const { signal } = gone;
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      const onEvent = (event: WhatIfEvent) => {
        if (signal.aborted) return;
        const data = `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
        controller.enqueue(encoder.encode(data));
      };
      void lab.whatIf(key, ask, { onEvent, signal }).finally(() => {
        if (!signal.aborted) controller.close();
      });
    },
    cancel: () => gone.abort(),
  });
}
