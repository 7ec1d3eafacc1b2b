// Takes a message for a session and streams what comes of it.
import { randomUUID } from "node:crypto";
import type { LogPort, TurnEvent } from "@clew/engine-core";
import type { Context, Hono } from "hono";
import { type CommandLine, parseLine } from "../../commands/parse.ts";
import type { Gateway } from "../../gateway.ts";
import { createKeyedQueue } from "../../sessions/queues.ts";
import type { StorageCluster } from "../../storage/storage.ts";
import {
  type EventPlace,
  formatPlace,
  hasHeardEnd,
  NOTHING_HEARD,
  parsePlace,
} from "../../streams/event-place.ts";
import { type Callers, personAt } from "../access/caller.ts";
import { refuse } from "../errors.ts";
import { type EventStream, eventStream, shownEvent } from "../event-stream.ts";
import { parseMessageBody, type SentMessage } from "../message-body.ts";
import { type Listener, tellKnown, tellTaken, tellToEnd } from "../told-turn.ts";
import { answered, HOP, handedOn, handOn, KEPT, lockedBy, notHere } from "./elsewhere.ts";
import { STREAM_HEADERS } from "./events.ts";
import { heardAll, readPlace } from "./read-place.ts";
import { sendAcross } from "./sent-across.ts";

export function addMessageRoute(
  app: Hono,
  gateway: Gateway,
  { callers, log }: { callers: Callers; log: LogPort },
): void {
  const arrivals = createKeyedQueue();
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
    const since = readPlace(context);
    if ("problem" in since) return refuse(context, "REQUEST_INVALID", since.problem);
    const key = gateway.canonicalKey(context.req.param("key"));
    const { message } = parsed;
    const problem = whyNotResumed(message, since.place);
    if (problem !== undefined) return refuse(context, "REQUEST_INVALID", problem);
    if (since.place !== undefined && hasHeardEnd(since.place)) return heardAll();
    const asked = { gateway, context, key, message, since: since.place, callers, log };
    const { cluster } = gateway;
    if (cluster === undefined) return streamTurn(asked);
    const take = async () => {
      if (isLong(message)) return streamAcross(cluster, asked);
      const passed = await handedOn(context, { cluster, key, callers, log });
      return passed ?? streamTurn(asked);
    };
    // A message is not overtaken by a later one while it is looked up who has the session. What
    // comes from other gateways waits for nobody: two may hand on to each other for a moment.
    const sender = context.req.header(HOP) === undefined ? "client" : "gateway";
    return isCommand(message) ? take() : arrivals.enqueue(`${sender} ${key}`, take);
  });
}

/** Undefined: its stream can go on from there. */
function whyNotResumed(message: SentMessage, since: EventPlace | undefined): string | undefined {
  if (since === undefined) return undefined;
  if (message.idempotencyKey === undefined)
    return "Last-Event-ID goes on with the stream of a message that was sent before, so it needs the idempotencyKey of that; without Last-Event-ID the message is a new one.";
  return isCommand(message)
    ? "The answer to a command is not told again; send it without Last-Event-ID to run it anew."
    : undefined;
}

async function readMessage({ req }: Context): Promise<ReturnType<typeof parseMessageBody>> {
  const isJson = req.header("content-type")?.split(";")[0]?.trim() === "application/json";
  return isJson
    ? parseMessageBody(await req.json().catch(() => undefined))
    : { problem: "the body must be application/json" };
}

/** It may wait: a command, and what is not to wait, is answered or refused at once. */
const isLong = (message: SentMessage): boolean =>
  message.whenBusy !== "refuse" && !isCommand(message);

const isCommand = ({ content }: SentMessage): boolean =>
  typeof content === "string" && parseLine(content).kind === "command";

interface Asked {
  gateway: Gateway;
  context: Context;
  key: string;
  message: SentMessage;
  since: EventPlace | undefined;
  callers: Callers;
  log: LogPort;
}

interface Streamed {
  asked: Asked;
  stream: EventStream;
  /** Fires when the run is to end with its client. */
  gone: AbortSignal;
  listener: Listener;
}

function streamFor(asked: Asked): Streamed {
  const { gateway, key, message, since } = asked;
  const gone = new AbortController();
  const left = new AbortController();
  const stream = eventStream({
    ...(since !== undefined && { since: formatPlace(since) }),
    onGone() {
      left.abort();
      if (message.onDisconnect === "abort")
        gone.abort(new DOMException("The client went away.", "AbortError"));
    },
  });
  if (since === undefined) stream.send({ type: "queued" });
  const listener = { gateway, key, stream, since, left: left.signal };
  return { asked, stream, gone: gone.signal, listener };
}

function answerWith({ asked: { log }, stream, listener }: Streamed, told: Promise<void>): Response {
  tellToEnd({ ...listener, log }, told);
  return new Response(stream.body, { headers: STREAM_HEADERS });
}

/** The stream goes on at this gateway, whichever has the session. */
async function streamAcross(cluster: StorageCluster, given: Asked): Promise<Response> {
  const { gateway, context, key, callers } = given;
  // Under a name it can be sent again, and is said once.
  const name = given.message.idempotencyKey ?? `sent:${randomUUID()}`;
  const message = { ...given.message, idempotencyKey: name };
  const content = textOf(message);
  const streamed = streamFor({ ...given, message });
  const { stream, listener } = streamed;
  const { left } = listener;
  const ownerOf = async () => notHere(cluster, await cluster.ownerOf(key));
  const sendHere = async (isKept: boolean) => {
    const at = { ...listener, since: parsePlace(stream.lastId()) };
    if (!isKept) return offer(streamed, content, at);
    const taken = await gateway.rejoin({ key, name });
    return { told: tellTaken(at, taken) };
  };
  const isHop = context.req.header(HOP) !== undefined;
  if (isHop) {
    const owner = await ownerOf();
    if (owner !== null) return lockedBy(context, key, owner);
    const { told } = await sendHere(context.req.header(KEPT) !== undefined);
    return answerWith(streamed, told);
  }
  const sent = await sendAcross({
    ...{ ownerOf, sendHere, left, onDisconnect: message.onDisconnect },
    look: () => cluster.look(key, { name, signal: left }),
    ...{ isHere: (owner) => notHere(cluster, owner) === null, over: cluster.alive },
    sendTo: (owner, isKept, signal) =>
      handOn(context, owner, {
        ...{ callers, body: bodyOf(message), isKept, signal, since: stream.lastId() },
      }),
    keep: () => gateway.keep({ key, ...message, content }),
    tellSaid: async () => {
      const said = await gateway.saidIn(key, name);
      if (said === null || said.reply === null) return false;
      await tellKnown({ ...listener, since: parsePlace(stream.lastId()) }, said.entryId);
      return true;
    },
    takeBack: async (id) => void (await gateway.waiting.takeBack(key, id)),
    ...{ send: stream.send, lastId: stream.lastId, drained: stream.drained },
  });
  return "refused" in sent ? answered(sent.refused) : answerWith(streamed, sent.told);
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

/**
 * The run goes on when the client goes away, unless it asked otherwise; the reply is in
 * the transcript either way. A message that is refused is refused before the stream begins.
 */
async function streamTurn(asked: Asked): Promise<Response> {
  const streamed = streamFor(asked);
  const { content } = asked.message;
  const line = typeof content === "string" ? parseLine(content) : undefined;
  if (line?.kind === "command") return answerWith(streamed, answer(streamed, line));
  const { told } = await offer(streamed, line?.text ?? content);
  return answerWith(streamed, told);
}

/** `told` settles when all is told. Throws where the message is refused. */
async function offer(
  { asked: { gateway, key, message }, stream, gone: signal, listener }: Streamed,
  content: SentMessage["content"],
  at: Listener = listener,
): Promise<{ told: Promise<void> }> {
  const { allowTools, whenBusy, idempotencyKey } = message;
  const sent = { key, content, signal, isWatched: true };
  const taken = await gateway.offer({ ...sent, allowTools, whenBusy, idempotencyKey });
  if (taken.waiting !== null) stream.send({ type: "waiting", message: taken.waiting });
  return { told: tellTaken(at, taken) };
}

/** A command asks no model and stores no message, unless it says something for the person. */
async function answer(streamed: Streamed, line: CommandLine): Promise<void> {
  const { asked, stream, gone: signal } = streamed;
  const { gateway, key } = asked;
  const onEvent = (event: TurnEvent) => {
    const shown = shownEvent(event);
    if (shown !== undefined) stream.send(shown);
  };
  const { say, ...answered } = await gateway.command(key, line, { signal, onEvent });
  stream.send({ type: "command", ...answered });
  if (say !== undefined) return (await offer(streamed, say)).told;
  const nothing = { error: null, turnId: null, replyEntryId: null };
  stream.send({ type: "done", outcome: "completed", ...nothing }, ANSWERED);
}

/** Of a command there is nothing more to hear. */
const ANSWERED = formatPlace({ ...NOTHING_HEARD, number: Number.POSITIVE_INFINITY });
