// Sends the reply that was chosen, or what goes wrong instead.
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import type { EmulatorFault } from "./fault.ts";
import type { EmulatedReply } from "./reply.ts";
import type { Accepted, EmulatedWire, Exchange, Failure, Frame } from "./wire.ts";

type Wire<A extends Accepted> = Pick<
  EmulatedWire<never, A>,
  "contentType" | "document" | "error" | "errorFrame" | "failures" | "frames" | "garbage"
>;

/** Where an answer goes, and in which form. */
export interface Delivery<A extends Accepted> {
  wire: Wire<A>;
  response: ServerResponse;
  exchange: Exchange<A>;
  /** False: one document. */
  streams: boolean;
}

export function sendFailure(
  wire: Pick<Wire<Accepted>, "error">,
  response: ServerResponse,
  failure: Failure,
): void {
  const { status, headers, body } = wire.error(failure);
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

export function sendReply<A extends Accepted>(
  { wire, response, exchange, streams }: Delivery<A>,
  reply: EmulatedReply,
): void {
  if (!streams) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(wire.document(reply, exchange)));
    return;
  }
  const { frames } = wire.frames(reply, exchange);
  response.writeHead(200, { "content-type": wire.contentType });
  // At once unless a pause is asked for: one write, so that a benchmark measures its subject and
  // not this server.
  if (reply.pauseMs === undefined) response.end(joined(frames));
  else void sendSlowly(response, frames, reply.pauseMs);
}

export function sendFault<A extends Accepted>(delivery: Delivery<A>, fault: EmulatorFault): void {
  const { wire, response } = delivery;
  const { failures } = wire;
  switch (fault.fault) {
    case "status":
      sendStatus(delivery, fault);
      break;
    case "overflow": {
      const { window, observedTokens = window + 1 } = fault;
      sendFailure(wire, response, failures.overflow(window, observedTokens));
      break;
    }
    case "rate-limit":
      sendFailure(wire, response, failures.rateLimit(fault.retryAfterMs));
      break;
    case "refusal": {
      const { fault: _fault, status = 400, ...failure } = fault;
      sendFailure(wire, response, { status, ...failure });
      break;
    }
    case "overloaded":
      sendFailure(wire, response, failures.overloaded());
      break;
    case "html":
      response.writeHead(fault.status ?? 502, { "content-type": "text/html" });
      response.end("<!doctype html><title>Bad gateway</title><h1>502 Bad gateway</h1>");
      break;
    case "redirect": {
      const { status = 307, location = "http://elsewhere.invalid/" } = fault;
      response.writeHead(status, { location }).end();
      break;
    }
    case "empty":
      response.writeHead(200, { "content-type": wire.contentType }).end();
      break;
    case "bomb":
      sendBomb(delivery, fault.bytes);
      break;
    default:
      sendBroken(delivery, fault);
  }
}

/** Faults of a reply that has begun, or would have. */
type BrokenReply = Extract<
  EmulatorFault,
  { fault: "error" | "cut" | "unfinished" | "truncated" | "malformed" | "hang" }
>;

function sendBroken<A extends Accepted>(delivery: Delivery<A>, fault: BrokenReply): void {
  const { wire, response } = delivery;
  const end = () => void response.end();
  switch (fault.fault) {
    case "error": {
      const failure = { status: 500, message: fault.message ?? "scripted failure" };
      begin(delivery, fault.text, wire.errorFrame(failure), end);
      break;
    }
    case "cut":
      begin(delivery, fault.text, "", () => void response.destroy());
      break;
    case "unfinished":
      begin(delivery, fault.text, "", end);
      break;
    case "truncated":
      begin(delivery, fault.text, half(endOf(delivery)), end);
      break;
    case "malformed":
      begin(delivery, fault.text, joined([wire.garbage, endOf(delivery)]), end);
      break;
    case "hang":
      if (fault.text !== undefined) begin(delivery, fault.text, "", () => {});
  }
}

function sendStatus<A extends Accepted>(
  { wire, response }: Delivery<A>,
  { status, headers, body }: Extract<EmulatorFault, { fault: "status" }>,
): void {
  const usual = wire.error({ status, message: `scripted failure ${status}` });
  response.writeHead(status, { "content-type": "application/json", ...usual.headers, ...headers });
  response.end(body ?? JSON.stringify(usual.body));
}

/** Everything before the end of a reply that says `text`, and `more`. */
function begin<A extends Accepted>(
  { wire, response, exchange, streams }: Delivery<A>,
  text: string | undefined,
  more: Frame,
  then: () => void,
): void {
  const reply = { text: text ?? "" };
  if (!streams) {
    response.writeHead(200, { "content-type": "application/json" });
    response.write(half(JSON.stringify(wire.document(reply, exchange))), then);
    return;
  }
  const { frames, end } = wire.frames(reply, exchange);
  response.writeHead(200, { "content-type": wire.contentType });
  response.flushHeaders();
  response.write(joined([...(text === undefined ? [] : frames.slice(0, end)), more]), then);
}

/** What ends a reply that says nothing. */
function endOf<A extends Accepted>({ wire, exchange }: Delivery<A>): Frame {
  const { frames, end } = wire.frames({}, exchange);
  return joined(frames.slice(end));
}

const half = (frame: Frame): Frame => frame.slice(0, Math.floor(frame.length / 2));

const joined = (frames: readonly Frame[]): Frame =>
  frames.every((frame) => typeof frame === "string")
    ? frames.join("")
    : Buffer.concat(frames.map((frame) => Buffer.from(frame as Uint8Array)));

async function sendSlowly(response: ServerResponse, frames: readonly Frame[], pauseMs: number) {
  for (const frame of frames) {
    if (response.destroyed) return;
    response.write(frame);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  response.end();
}

const MEBIBYTE = 2 ** 20;

/** Archives stand behind one another as one: each is a mebibyte of blanks in a thousand bytes. */
function sendBomb<A extends Accepted>(
  { wire, response, streams }: Delivery<A>,
  bytes = 256 * MEBIBYTE,
): void {
  const archive = gzipSync(Buffer.alloc(MEBIBYTE, " "));
  response.writeHead(200, {
    "content-type": streams ? wire.contentType : "application/json",
    "content-encoding": "gzip",
  });
  response.end(Buffer.concat(Array.from({ length: Math.ceil(bytes / MEBIBYTE) }, () => archive)));
}
