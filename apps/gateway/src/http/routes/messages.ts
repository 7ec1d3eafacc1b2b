// Takes a message for a session and streams what comes of it.
import { randomUUID } from "node:crypto";
import type { LogPort, TurnEvent } from "@clew/engine-core";
import { isAbort } from "@clew/plugin-sdk/core";
import type { Context, Hono } from "hono";
import { concerns, describeEnd } from "../../approvals/approval.ts";
import type { Watcher } from "../../approvals/queue.ts";
import { type CommandLine, parseLine } from "../../commands/parse.ts";
import { endingOf } from "../../events/ending.ts";
import type { SaidBefore } from "../../gateway/sending.ts";
import type { Gateway } from "../../gateway.ts";
import { costOfTurn } from "../../inspect/cost.ts";
import { mendAfterFailure } from "../../plugins/contain/shared-watch.ts";
import { inSafeMode } from "../../plugins/load/record.ts";
import { describeThrown } from "../../plugins/stray-errors.ts";
import type { StorageCluster } from "../../storage/storage.ts";
import type { SentResult } from "../../waiting/inbox.ts";
import { type Callers, personAt } from "../access/caller.ts";
import { refuse, toErrorResponse } from "../errors.ts";
import { type EventStream, eventStream, shownEvent } from "../event-stream.ts";
import { parseMessageBody, type SentMessage } from "../message-body.ts";
import { answered, HOP, handedOn, handOn, KEPT, lockedBy } from "./elsewhere.ts";
import { STREAM_HEADERS } from "./events.ts";
import { sendAcross } from "./sent-across.ts";

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
    const { message } = parsed;
    const { cluster } = gateway;
    if (cluster === undefined || !isLong(message)) {
      const passed = cluster && (await handedOn(context, { cluster, key, log }));
      if (passed !== undefined) return passed;
    } else return streamAcross({ gateway, cluster, context, key, message, log });
    const body = await streamTurn(gateway, log, key, message);
    return new Response(body, { headers: STREAM_HEADERS });
  });
}

async function readMessage({ req }: Context): Promise<ReturnType<typeof parseMessageBody>> {
  const isJson = req.header("content-type")?.split(";")[0]?.trim() === "application/json";
  return isJson
    ? parseMessageBody(await req.json().catch(() => undefined))
    : { problem: "the body must be application/json" };
}

/** It may wait: a command, and what is not to wait, is answered or refused at once. */
const isLong = ({ content, whenBusy }: SentMessage): boolean =>
  whenBusy !== "refuse" && (typeof content !== "string" || parseLine(content).kind !== "command");

interface AskedAcross {
  gateway: Gateway;
  cluster: StorageCluster;
  context: Context;
  key: string;
  message: SentMessage;
  log: LogPort;
}

/** The stream goes on at this gateway, whichever has the session. */
async function streamAcross(asked: AskedAcross): Promise<Response> {
  const { gateway, cluster, context, key, message: given, log } = asked;
  // Under a name it can be sent again, and is said once.
  const message = { ...given, idempotencyKey: given.idempotencyKey ?? `sent:${randomUUID()}` };
  const { idempotencyKey: name, onDisconnect } = message;
  const content = textOf(message);
  const gone = new AbortController();
  const left = new AbortController();
  const stream = eventStream({
    onGone() {
      left.abort();
      if (onDisconnect === "abort")
        gone.abort(new DOMException("The client went away.", "AbortError"));
    },
  });
  const isHop = context.req.header(HOP) !== undefined;
  const wasKept = context.req.header(KEPT) !== undefined;
  const ownerOf = async () => {
    const owner = await cluster.ownerOf(key);
    return owner === cluster.address ? null : owner;
  };
  const here = { gateway, key, message, stream, signal: gone.signal };
  const onEvent = toldTo(stream);
  const sendHere = async (isKept: boolean) => {
    if (!isKept) return offer(here, content, onEvent);
    const unwatch = gateway.approvals.attach(streamedTo(stream, key));
    const taken = await gateway.rejoin({ key, name, onEvent }).catch((error: unknown) => {
      unwatch();
      throw error;
    });
    const told = taken.result.then(async (result) => {
      if (result.outcome !== "known") return tellEnd(here, taken.result);
      const { entryId } = result;
      tellKnown(stream, (await gateway.saidIn(key, name)) ?? { entryId, reply: null });
    });
    return { told: told.finally(unwatch) };
  };
  stream.send({ type: "queued" });
  if (isHop) {
    const owner = await ownerOf();
    if (owner !== null) return lockedBy(context, key, owner);
  }
  const sent = isHop
    ? await sendHere(wasKept)
    : await sendAcross({
        ...{ ownerOf, sendHere, left: left.signal, onDisconnect },
        sendTo: (owner, isKept) =>
          handOn(context, owner, { body: bodyOf(message), isKept, signal: left.signal }),
        keep: () => gateway.keep({ key, ...message, content }),
        tellSaid: async () => {
          // Looking for it costs less than reading the session.
          if (await gateway.isKept(key, name)) return false;
          const said = await gateway.saidIn(key, name);
          if (said === null || said.reply === null) return false;
          tellKnown(stream, said);
          return true;
        },
        takeBack: async (id) => void (await gateway.waiting.takeBack(key, id)),
        send: stream.send,
      });
  if ("refused" in sent) return answered(sent.refused);
  void sent.told
    .catch((error: unknown) => tellFailure({ stream, log, key }, error))
    .finally(stream.end);
  return new Response(stream.body, { headers: STREAM_HEADERS });
}

/** Its turn is over, and was told to nobody here. */
function tellKnown(stream: EventStream, { entryId, reply }: SaidBefore): void {
  stream.send({ type: "accepted", entryId });
  if (reply !== null) toldTo(stream)({ type: "message", ...reply });
  const replyEntryId = reply?.entryId ?? null;
  stream.send({ type: "done", outcome: "completed", ...NOTHING_SAID, replyEntryId });
}

/** What is said is no command, whatever it begins with. */
function textOf({ content }: SentMessage): SentMessage["content"] {
  const line = typeof content === "string" ? parseLine(content) : undefined;
  return line?.kind === "message" ? line.text : content;
}

const bodyOf = ({ content, allowTools, ...message }: SentMessage): string =>
  JSON.stringify({
    ...message,
    ...(typeof content === "string" ? { text: content } : { content }),
    ...(allowTools.length > 0 && { allowTools }),
  });

const toldTo = (stream: EventStream) => (event: TurnEvent) => {
  const shown = shownEvent(event);
  if (shown !== undefined) stream.send(shown);
};

/**
 * The run goes on when the client goes away, unless it asked otherwise; the reply is in
 * the transcript either way. A message that is refused is refused before the stream begins.
 */
async function streamTurn(
  gateway: Gateway,
  log: LogPort,
  key: string,
  message: SentMessage,
): Promise<ReadableStream<Uint8Array>> {
  const gone = new AbortController();
  const stream = eventStream({
    onGone() {
      if (message.onDisconnect === "abort")
        gone.abort(new DOMException("The client went away.", "AbortError"));
    },
  });
  stream.send({ type: "queued" });
  const asked = { gateway, key, message, stream, signal: gone.signal };
  const { told } = await begin(asked);
  void told.catch((error: unknown) => tellFailure({ stream, log, key }, error)).finally(stream.end);
  return stream.body;
}

/** Whatever else fails meanwhile, the client is told that it is over. */
function tellFailure(
  { stream, log, key }: { stream: EventStream; log: LogPort; key: string },
  error: unknown,
): void {
  // What a plugin did to all code may be why, and would keep this from being told.
  const meanwhile = mendAfterFailure();
  const { status, body } = toErrorResponse(error);
  const isOwn = status >= 500 && !isAbort(error);
  const why = meanwhile === undefined ? "" : `; shortly before, ${meanwhile}`;
  try {
    const about = isOwn && meanwhile !== undefined ? { error: { ...body.error } } : body;
    if (about !== body) about.error.message = `${body.error.message} Shortly before, ${meanwhile}.`;
    stream.send({ type: "error", ...about });
  } finally {
    if (isOwn) log.error(`turn in ${key} failed: ${describeThrown(error)}${why}`);
  }
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

interface Asked {
  gateway: Gateway;
  key: string;
  message: SentMessage;
  stream: EventStream;
  signal: AbortSignal;
}

const NOTHING_SAID = { error: null, turnId: null, replyEntryId: null };

/** `told` settles when all is told. Throws where the message is refused. */
async function begin(asked: Asked): Promise<{ told: Promise<void> }> {
  const { message, stream } = asked;
  const { content } = message;
  const onEvent = toldTo(stream);
  const line = typeof content === "string" ? parseLine(content) : undefined;
  if (line?.kind === "command") return { told: answer(asked, line, onEvent) };
  return offer(asked, line?.text ?? content, onEvent);
}

/** What is said is no command, whatever it begins with. */
async function offer(
  { gateway, key, message, stream, signal }: Asked,
  content: SentMessage["content"],
  onEvent: (event: TurnEvent) => void,
): Promise<{ told: Promise<void> }> {
  const { allowTools, whenBusy, idempotencyKey } = message;
  const unwatch = gateway.approvals.attach(streamedTo(stream, key));
  const sent = { key, content, signal, onEvent };
  const offered = { ...sent, allowTools, whenBusy, idempotencyKey };
  const taken = await gateway.offer(offered).catch((error: unknown) => {
    unwatch();
    throw error;
  });
  if (taken.waiting !== null) stream.send({ type: "waiting", message: taken.waiting });
  const told = tellEnd({ gateway, key, stream }, taken.result);
  return { told: told.finally(unwatch) };
}

/** A command asks no model and stores no message, unless it says something for the person. */
async function answer(
  asked: Asked,
  line: CommandLine,
  onEvent: (event: TurnEvent) => void,
): Promise<void> {
  const { gateway, key, stream, signal } = asked;
  const { say, ...answered } = await gateway.command(key, line, { signal, onEvent });
  stream.send({ type: "command", ...answered });
  if (say !== undefined) return (await offer(asked, say, onEvent)).told;
  stream.send({ type: "done", outcome: "completed", ...NOTHING_SAID });
}

async function tellEnd(
  { gateway, key, stream }: Pick<Asked, "gateway" | "key" | "stream">,
  sent: Promise<SentResult>,
): Promise<void> {
  const result = await sent;
  if (result.outcome === "known") {
    stream.send({ type: "accepted", entryId: result.entryId });
    return stream.send({ type: "done", outcome: "completed", ...NOTHING_SAID });
  }
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
