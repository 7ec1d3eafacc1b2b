// A model server on loopback that gives each request the reply or fault a test has for it.
import type { ServerResponse } from "node:http";
import type { DoorApi } from "../wires/door-wire.ts";
import { wireAt } from "../wires/find-wire.ts";
import { objectsOf, recordOf } from "../wires/json.ts";
import type { Ask, Reply } from "./agents.ts";
import { startUpstream, type TestUpstream, type UpstreamHeard } from "./upstream.ts";
import { writeReply } from "./write-reply.ts";

/** "no-end": it ends cleanly without its final event. */
export type Fault = "429" | "500" | "broken" | "no-end";

interface Awaited {
  reply: Reply;
  fault: Fault | undefined;
}

export interface ReplyingUpstream extends TestUpstream {
  /** Sends what an agent asks to `url`, and tells the agent what it got; true: all went well. */
  play(url: string, ask: Ask, awaited: Awaited): Promise<PlayedAsk>;
  /** What whoever sends this name in the header "x-ask" is answered. */
  await(name: string, awaited: Awaited): void;
}

export interface PlayedAsk {
  status: number;
  /** As the door says. */
  session: string | null;
  /** True: the agent has the reply. */
  hasReply: boolean;
  headers: Headers;
}

/** Members of an answer that the fault makes no difference to. */
const HEADERS = { "x-request-id": "req_1" };

export async function startReplies(
  options: {
    inputTokens?: (heard: UpstreamHeard) => number;
    /** Why a request is too large, in the provider's words. Absent: none is. */
    refuse?: (heard: UpstreamHeard) => string | undefined;
    /** True: it says so in an event, behind a status of 200. */
    refusesInStream?: boolean;
  } = {},
): Promise<ReplyingUpstream> {
  const { inputTokens = ({ bytes }) => Math.ceil(bytes.length / 4), refuse } = options;
  const { refusesInStream = false } = options;
  const waiting = new Map<string, Awaited>();
  let count = 0;
  const upstream = await startUpstream((heard, response) => {
    const awaited = waiting.get(String(heard.headers["x-ask"]));
    if (awaited === undefined) return response.writeHead(404).end();
    const refused = refuse?.(heard);
    if (refused !== undefined) {
      const wire = wireAt(heard.url.split("?")[0]!)!;
      const { status, body } = wire.error(400, refused);
      if (refusesInStream) {
        response.writeHead(200, { ...HEADERS, "content-type": "text/event-stream" });
        return response.end(errorEvent(wire.api, body, refused));
      }
      return response.writeHead(status, HEADERS).end(JSON.stringify(body));
    }
    return answer(heard, response, { ...awaited, id: `r${++count}`, input: inputTokens(heard) });
  });
  return {
    ...upstream,
    await: (name, awaited) => void waiting.set(name, awaited),
    async play(url, { request, headers, take }, awaited) {
      const name = `ask ${++count}`;
      waiting.set(name, awaited);
      const sent = await fetch(`${url}${request.path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers, "x-ask": name },
        body: JSON.stringify(request.body),
      });
      const text = await sent.text().catch(() => undefined);
      const hasReply = sent.ok && text !== undefined;
      take(hasReply ? awaited.reply : null);
      const session = sent.headers.get("x-clew-session");
      return { status: sent.status, session, hasReply, headers: sent.headers };
    },
  };
}

function errorEvent(api: DoorApi, body: object, message: string): string {
  if (api === "anthropic-messages") return `event: error\ndata: ${JSON.stringify(body)}\n\n`;
  if (api !== "openai-responses") return `data: ${JSON.stringify(body)}\n\n`;
  const error = { code: "context_length_exceeded", message };
  const failed = { type: "response.failed", response: { id: "r", status: "failed", error } };
  return `event: response.failed\ndata: ${JSON.stringify(failed)}\n\n`;
}

function answer(
  { url, bytes }: UpstreamHeard,
  response: ServerResponse,
  { reply, fault, id, input }: Awaited & { id: string; input: number },
): void {
  const [path = ""] = url.split("?");
  const wire = wireAt(path)!;
  const body = recordOf(JSON.parse(bytes.toString()));
  if (fault === "429" || fault === "500") {
    const told = wire.error(Number(fault), "Not now.");
    const headers = { ...HEADERS, "content-type": "application/json", "retry-after": "7" };
    response.writeHead(told.status, headers).end(JSON.stringify(told.body));
    return;
  }
  const streaming = body.stream === true || path.endsWith("streamGenerateContent");
  const usage = { input, output: 20 };
  const { contentType, pieces } = writeReply(wire.api, reply, {
    ...{ id, usage, streaming },
    code: objectsOf(body.input).some(({ type }) => type === "additional_tools"),
  });
  response.writeHead(200, { ...HEADERS, "content-type": contentType });
  if (fault === undefined) {
    for (const piece of pieces) response.write(piece);
    response.end();
    return;
  }
  const isLast = (piece: string) =>
    /\[DONE\]|message_stop|response\.completed|finishReason/.test(piece);
  const kept = pieces.filter((piece) => !isLast(piece));
  for (const piece of fault === "broken" ? kept.slice(0, 2) : kept) response.write(piece);
  if (fault === "no-end") response.end();
  else setImmediate(() => response.destroy());
}
