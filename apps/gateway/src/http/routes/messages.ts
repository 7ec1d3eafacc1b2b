// Takes a message for a session and streams what comes of it.
import type { LogPort, TurnEvent } from "@clew/engine-core";
import { isAbort } from "@clew/plugin-sdk/core";
import type { Context, Hono } from "hono";
import { concerns, describeEnd } from "../../approvals/approval.ts";
import type { Watcher } from "../../approvals/queue.ts";
import { parseLine } from "../../commands/parse.ts";
import { endingOf } from "../../events/ending.ts";
import type { Gateway } from "../../gateway.ts";
import { costOfTurn } from "../../inspect/cost.ts";
import { inSafeMode } from "../../plugins/load/record.ts";
import { type Callers, personAt } from "../access/caller.ts";
import { refuse, toErrorResponse } from "../errors.ts";
import { type EventStream, eventStream, shownEvent } from "../event-stream.ts";
import { parseMessageBody, type SentMessage } from "../message-body.ts";
import { STREAM_HEADERS } from "./events.ts";

export function addMessageRoute(
  app: Hono,
  gateway: Gateway,
  { callers, log }: { callers: Callers; log: LogPort },
): void {
  app.post("/api/sessions/:key/messages", async (context) => {
    const parsed = await readMessage(context);
    if ("problem" in parsed)
      return refuse(context, "REQUEST_INVALID", `The message cannot be sent: ${parsed.problem}.`);
    const mayAllow = personAt(callers.of(context)) === "http";
    if (parsed.message.allowTools.length > 0 && !mayAllow) {
      const message =
        "allowTools needs the token of gateway.auth.token, or another one for admin, sent as the header Authorization: Bearer.";
      return refuse(context, "FORBIDDEN", message);
    }
    const key = gateway.canonicalKey(context.req.param("key"));
    const body = streamTurn(gateway, log, key, parsed.message);
    return new Response(body, { headers: STREAM_HEADERS });
  });
}

async function readMessage({ req }: Context): Promise<ReturnType<typeof parseMessageBody>> {
  const isJson = req.header("content-type")?.split(";")[0]?.trim() === "application/json";
  return isJson
    ? parseMessageBody(await req.json().catch(() => undefined))
    : { problem: "the body must be application/json" };
}

/**
 * The run goes on when the client goes away, unless it asked otherwise; the reply is in
 * the transcript either way.
 */
function streamTurn(
  gateway: Gateway,
  log: LogPort,
  key: string,
  message: SentMessage,
): ReadableStream<Uint8Array> {
  const gone = new AbortController();
  const stream = eventStream({
    onGone() {
      if (message.onDisconnect === "abort")
        gone.abort(new DOMException("The client went away.", "AbortError"));
    },
  });
  stream.send({ type: "queued" });
  answer({ gateway, key, message, stream, signal: gone.signal })
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

/** Tells a client what its turn waits for; it answers by a request of its own. */
const streamedTo = (stream: EventStream, key: string): Watcher => ({
  canAnswer: false,
  asked(approval) {
    if (concerns(approval, key)) stream.send({ type: "approval", approval });
  },
  over(approval, end) {
    const { id } = approval;
    if (concerns(approval, key)) stream.send({ type: "approval_end", id, text: describeEnd(end) });
  },
});

/** A command asks no model and stores no message. */
async function answer(request: {
  gateway: Gateway;
  key: string;
  message: SentMessage;
  stream: EventStream;
  signal: AbortSignal;
}): Promise<void> {
  const { gateway, key, message, stream, signal } = request;
  const { content, allowTools } = message;
  const onEvent = (event: TurnEvent) => {
    const shown = shownEvent(event);
    if (shown !== undefined) stream.send(shown);
  };
  const line = typeof content === "string" ? parseLine(content) : undefined;
  if (line?.kind === "command") {
    stream.send({ type: "command", ...(await gateway.command(key, line, { signal, onEvent })) });
    const nothing = { error: null, turnId: null, replyEntryId: null };
    return stream.send({ type: "done", outcome: "completed", ...nothing });
  }
  const sent = { key, content: line?.text ?? content, signal, onEvent, allowTools };
  const unwatch = gateway.approvals.attach(streamedTo(stream, key));
  const result = await gateway.send(sent).finally(unwatch);
  const safeMode = inSafeMode(gateway.plugins?.records() ?? []);
  const { report } = result;
  const told = {
    ...endingOf(result),
    ...(report.modelCalls.length > 0 && {
      cost: { turn: costOfTurn(report), session: await gateway.spentIn(key) },
    }),
    ...(safeMode.length > 0 && { safeMode }),
  };
  stream.send({ type: "done", ...told });
}
