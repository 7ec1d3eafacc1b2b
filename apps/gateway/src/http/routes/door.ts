// Lets clients of model APIs in, at the addresses they know.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { LogPort } from "@clew/engine-core";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context, Hono } from "hono";
import { answerWith, type DoorCall, type DoorVisit } from "../../door/call/door-call.ts";
import { type Door, wireOfVisit } from "../../door/serve/door.ts";
import type { DoorWire } from "../../door/wires/door-wire.ts";
import { wireAt } from "../../door/wires/find-wire.ts";
import { readGooglePath } from "../../door/wires/google-path.ts";
import type { Gateway } from "../../gateway.ts";
import { describeBytes } from "../../limits/size.ts";
import type { RawHeaders } from "../../passing/raw-headers.ts";
import { gatewayStopping } from "../../stopping.ts";
import type { Callers } from "../access/caller.ts";
import { HEARD, markHeard } from "../heard.ts";
import { type NodeOutlet, nodeOutlet } from "../node-outlet.ts";
import { readRawBody } from "../raw-body.ts";
import { answeredElsewhere } from "./door-elsewhere.ts";

export function addDoorRoutes(
  app: Hono,
  gateway: Gateway,
  options: { callers: Callers; bodyBytes: number; log: Pick<LogPort, "warn"> },
): void {
  const { cluster } = gateway;
  const visited = (work: (visit: Visit) => Promise<void>) => (context: Context) =>
    gateway.door.isOpen ? enter(context, gateway, { ...options, work }) : context.notFound();
  const converse = visited((asked) =>
    answerCall(
      asked,
      cluster && {
        isStopping: gateway.isStopping,
        isAnswered: ({ wire, outlet }, key) => {
          const { target, vouched } = asked;
          const { method, headers, bytes } = asked.visit;
          const request = { method, target, headers, vouched, bytes, wire, outlet, key };
          return answeredElsewhere(cluster, request, options.log);
        },
      },
    ),
  );
  const pass = visited(({ door, visit, wire, outlet }) => door.pass({ ...visit, wire }, outlet));
  const listModels = visited(async ({ door, wire, outlet }) =>
    answerWith(outlet, door.models(wire)),
  );
  const oneModel = visited(async ({ door, visit, wire, outlet }) => {
    const id = decodeURIComponent(visit.path.replace(/^\/v1(?:beta)?\/models\//, ""));
    answerWith(outlet, door.models(wire, id));
  });
  const noSocket = visited(async ({ refuse }) =>
    refuse(426, "Responses are not spoken by a WebSocket here; use POST.", [
      ["upgrade", "HTTP/1.1"],
    ]),
  );
  app.get("/v1/models", listModels);
  app.get("/v1beta/models", listModels);
  // Names of models may have slashes.
  app.get("/v1/models/*", oneModel);
  app.get("/v1beta/models/*", oneModel);
  app.get("/v1/responses", (context) =>
    context.req.header("upgrade") === undefined ? pass(context) : noSocket(context),
  );
  app.post("/v1/chat/completions", converse);
  app.post("/v1/responses", converse);
  app.post("/v1/messages", converse);
  app.post("/v1/messages/count_tokens", pass);
  const callGoogle = (context: Context) =>
    wireAt(context.req.path) === undefined ? pass(context) : converse(context);
  app.post("/v1beta/models/:call", callGoogle);
  // Google's newest clients leave the "beta" out.
  app.post("/v1/models/:call", callGoogle);
  // Names of models may have slashes.
  const rest = (context: Context) =>
    context.req.method === "POST" && readGooglePath(context.req.path) !== undefined
      ? callGoogle(context)
      : pass(context);
  for (const path of ["/v1/*", "/v1beta/*"]) app.all(path, rest);
}

interface Visit {
  door: Door;
  visit: DoorVisit;
  wire: DoorWire;
  outlet: NodeOutlet;
  /** Of what holds no conversation; the log says why. */
  refuse(status: number, sentence: string, more?: RawHeaders): void;
  /** Its address, without a token. */
  target: string;
  /** By which another gateway lets the same one in. */
  vouched(to: string): RawHeaders;
}

interface EnterOptions {
  callers: Callers;
  bodyBytes: number;
  work: (visit: Visit) => Promise<void>;
}

async function enter(
  context: Context,
  gateway: Gateway,
  { callers, bodyBytes, work }: EnterOptions,
): Promise<Response> {
  const { incoming, outgoing } = context.env as {
    incoming: IncomingMessage;
    outgoing: ServerResponse;
  };
  const { [HEARD]: heard } = incoming.headers;
  if (heard === "all") {
    markHeard(incoming.socket);
    outgoing.writeHead(204).end();
    return RESPONSE_ALREADY_SENT;
  }
  const { pathname, search } = new URL(context.req.url);
  const headers = callers.withoutTokens(rawHeadersOf(incoming));
  const wire = wireAt(pathname) ?? wireOfVisit({ path: pathname, headers });
  const outlet = nodeOutlet(outgoing, { isPassedOn: heard === "awaited" });
  let reason: string | undefined;
  const refuse = (status: number, sentence: string, more: RawHeaders = []) => {
    reason = sentence;
    answerWith(outlet, wire.error(status, sentence), more);
  };
  const body = await readRawBody(incoming, bodyBytes);
  // What is left of the body is not read, so nothing else can come this way.
  const unread: RawHeaders = [["connection", "close"]];
  if (gateway.isStopping()) refuse(503, gatewayStopping().message, unread);
  else if (body.kind === "too-large") refuse(413, tooLarge(bodyBytes), unread);
  else if (body.kind === "packed")
    refuse(415, "The body is packed in a way that is not known here.", unread);
  else if (body.kind === "body") {
    const { method, path } = { method: incoming.method ?? "GET", path: pathname };
    const query = callers.queryWithoutTokens(pathname, search);
    const visit = { ...{ method, path, query, headers }, bytes: body.bytes };
    const target = `${pathname}${query}`;
    const vouched = (to: string) => callers.vouched(context, { to, method, target });
    await work({ door: gateway.door, visit, wire, outlet, refuse, target, vouched });
  }
  await outlet.closed;
  if (outlet.hasBegun) gateway.door.answered({ wire, status: outgoing.statusCode, reason });
  return RESPONSE_ALREADY_SENT;
}

const tooLarge = (bytes: number) =>
  `The request is larger than ${describeBytes(bytes)} (gateway.limits.bodyBytes of Clew).`;

/** Where other gateways may be the ones to answer. */
interface Elsewhere {
  isStopping(): boolean;
  isAnswered(asked: Pick<Visit, "wire" | "outlet">, key: string | undefined): Promise<boolean>;
}

/** Nothing is waited for where nobody else could answer: who stops counts what has begun. */
async function answerCall(
  { door, visit, wire, outlet, refuse }: Visit,
  elsewhere: Elsewhere | undefined,
): Promise<void> {
  const read = door.read(visit.bytes, wire);
  const request = read && wire.read(read.body, visit.path);
  if (read === undefined || request === undefined) {
    const what =
      read === undefined ? "The body is no JSON object." : `The body has no list "${wire.list}".`;
    return refuse(400, what);
  }
  const call: DoorCall = { ...visit, ...read, wire, request };
  if (elsewhere !== undefined) {
    if (await elsewhere.isAnswered({ wire, outlet }, door.keyOf(call))) return;
    if (elsewhere.isStopping()) return refuse(503, gatewayStopping().message);
  }
  await door.answer(call, outlet);
}

function rawHeadersOf({ rawHeaders }: IncomingMessage): RawHeaders {
  return rawHeaders.flatMap(
    (name, index): RawHeaders => (index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""]] : []),
  );
}
