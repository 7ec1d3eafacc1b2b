// Asks a model by its own wire for a client that speaks another one.
import type { AssistantMessage, Usage } from "@clew/plugin-sdk/core";
import type { ModelError, ModelRef, StreamEvent } from "@clew/plugin-sdk/host";
import type { Host } from "../../host/host.ts";
import { fromJson, toJson } from "../../own-json.ts";
import type { UpstreamAnswer } from "../../passing/ask-upstream.ts";
import type { RawHeaders } from "../../passing/raw-headers.ts";
import { readAsk } from "../ask/read-ask.ts";
import { type DoorCall, wantsEvents } from "../call/door-call.ts";
import { errorStatus } from "../reply/error-status.ts";
import { REPLY_WRITERS } from "../reply/find-writer.ts";
import { type ReplyHead, type ReplyStream, shownReply } from "../reply/reply-writer.ts";
import { restOfReply, usageIsAsked } from "../reply/tell-reply.ts";
import { toAgentMessages } from "../transcript/agent-messages.ts";
import type { AskAcross } from "../upstream/reach.ts";
import type { DoorAnswer, DoorRequest } from "../wires/door-wire.ts";
import { wireAt } from "../wires/find-wire.ts";
import { recordOf } from "../wires/json.ts";
import type { RememberedReplies } from "./remembered-replies.ts";

export interface AcrossParts {
  host: Pick<Host, "streamReply">;
  replies: RememberedReplies;
  now: () => number;
  newId: () => string;
}

/** What holds no conversation was answered before. */
export const createAskAcross =
  (parts: AcrossParts): AskAcross =>
  async ({ visit, upstream, body, signal }) => {
    const wire = wireAt(visit.path);
    const parsed = recordOf(fromJson(new TextDecoder().decode(body)));
    const request = wire?.read(parsed, visit.path);
    if (wire === undefined || request === undefined)
      throw new Error(`${visit.path} holds no conversation that could be asked across.`);
    const call = { wire, body: parsed, query: visit.query };
    const { model } = upstream.resolved;
    return askAcross(parts, { call, request, model, signal });
  };

/** An answer in the client's wire, as a model server of that wire would have given it. */
async function askAcross(
  parts: AcrossParts,
  {
    call,
    request,
    model,
    signal,
  }: {
    call: Pick<DoorCall, "wire" | "body" | "query">;
    request: DoorRequest;
    model: ModelRef;
    signal: AbortSignal;
  },
): Promise<UpstreamAnswer> {
  const { wire } = call;
  const { system, tools, ...asked } = readAsk(wire.api, call.body, request);
  const answerer = { provider: model.provider, model: model.id };
  const read = toAgentMessages(wire.api, request.messages.slice(request.leading), {
    ...{ answerer, toolNames: new Map() },
  });
  const most = Math.min(asked.maxOutputTokens ?? model.maxOutputTokens, model.maxOutputTokens);
  const events = parts.host.streamReply({
    ...asked,
    ...(asked.maxOutputTokens !== undefined && { maxOutputTokens: most }),
    ...{ model, tools, signal, systemPrompt: system },
    messages: read.map((message) => parts.replies.asItCame(message, model)),
  });
  const iterator = events[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true) throw new Error("The model's stream ended without a final event.");
  if (first.value.type === "error") return failed(first.value.error, wire, model);
  const rest = followedBy(first.value, iterator);
  const head: ReplyHead = {
    id: parts.newId().replaceAll("-", ""),
    model: request.model,
    createdAt: parts.now(),
    repeated: {},
  };
  if (!request.streaming) return whole(parts, { wire, model, head, events: rest });
  const isEvents = wantsEvents(wire, call);
  const stream = REPLY_WRITERS[wire.api].stream(head, { usage: usageIsAsked(call.body), isEvents });
  let usage: Usage | undefined;
  const learn = (message: AssistantMessage) => {
    usage = message.usage;
    parts.replies.keep(message);
  };
  return {
    status: 200,
    headers: [
      ["content-type", `${isEvents ? "text/event-stream" : "application/json"}; charset=utf-8`],
      ["cache-control", "no-cache"],
    ],
    bytes: written(learn, { wire, model, stream, events: rest }),
    usage: () => usage,
  };
}

type Wire = DoorCall["wire"];
type Events = AsyncIterable<StreamEvent>;

const failed = (error: ModelError, wire: Wire, model: ModelRef): UpstreamAnswer =>
  jsonAnswer(refusalOf(error, wire, model), retryHeaders(error));

/** Clients know by its words that a prompt is too long, and shorten it. */
function refusalOf(error: ModelError, wire: Wire, { contextWindow }: ModelRef): DoorAnswer {
  if (error.kind !== "overflow") return wire.error(statusOf(error, wire), error.message);
  const { observedTokens, promptTokens, windowTokens: window = contextWindow } = error;
  const tokens = observedTokens ?? promptTokens ?? window + 1;
  return wire.overflow({ tokens, window, fixedTokens: 0 });
}

const statusOf = (error: ModelError, { api }: Wire): number =>
  isRedirect(error) ? 502 : errorStatus(api, error.kind, error.status);

/** It is the server's address that is wrong, not what the client named. */
const isRedirect = ({ status = 0 }: ModelError) => status >= 300 && status < 400;

function retryHeaders(error: ModelError): RawHeaders {
  if (error.kind !== "rate_limited" || error.retryAfterMs === undefined) return [];
  return [["retry-after", String(Math.ceil(error.retryAfterMs / 1000))]];
}

async function whole(
  { replies }: AcrossParts,
  { wire, model, head, events }: { wire: Wire; model: ModelRef; head: ReplyHead; events: Events },
): Promise<UpstreamAnswer> {
  for await (const event of events) {
    if (event.type === "error") return failed(event.error, wire, model);
    if (event.type !== "done") continue;
    const { message } = event;
    replies.keep(message);
    const blocks = shownReply(message, () => true);
    const body = REPLY_WRITERS[wire.api].document(head, blocks, endOf(message));
    return { ...jsonAnswer({ status: 200, body }), usage: () => message.usage };
  }
  throw new Error("The model's stream ended without a final event.");
}

async function* written(
  learn: (reply: AssistantMessage) => void,
  {
    wire,
    model,
    stream,
    events,
  }: { wire: Wire; model: ModelRef; stream: ReplyStream; events: Events },
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let wasTold = false;
  yield encoder.encode(stream.begin());
  for await (const event of events) {
    if (event.type === "text" || event.type === "thinking") {
      wasTold = true;
      yield encoder.encode(stream[event.type](event.delta));
    } else if (event.type === "error") {
      yield encoder.encode(stream.fail(refusalOf(event.error, wire, model)));
    } else if (event.type === "done") {
      const { message } = event;
      learn(message);
      const rest = restOfReply(stream, { blocks: shownReply(message, () => true), wasTold });
      yield encoder.encode(rest + stream.end(endOf(message)));
    }
  }
}

const endOf = ({ stopReason, usage }: AssistantMessage) => ({
  stopReason: stopReason === "length" || stopReason === "toolUse" ? stopReason : ("stop" as const),
  usage,
});

function jsonAnswer(
  { status, body }: { status: number; body: object },
  headers: RawHeaders = [],
): UpstreamAnswer {
  const bytes = new TextEncoder().encode(toJson(body));
  return {
    status,
    headers: [["content-type", "application/json"], ...headers],
    bytes: (async function* () {
      yield bytes;
    })(),
  };
}

async function* followedBy(
  first: StreamEvent,
  rest: AsyncIterator<StreamEvent>,
): AsyncGenerator<StreamEvent> {
  try {
    yield first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next())
      yield next.value;
  } finally {
    await rest.return?.();
  }
}
