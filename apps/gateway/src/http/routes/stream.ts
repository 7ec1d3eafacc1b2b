// Streams the turn that runs in a session to whoever comes, or comes back.
import type { LogPort } from "@clew/engine-core";
import type { Context, Hono } from "hono";
import type { Gateway } from "../../gateway.ts";
import { shortName } from "../../sessions/keys.ts";
import { sessionNotFound } from "../../sessions/name-errors.ts";
import {
  type EventPlace,
  formatPlace,
  hasHeardNothing,
  parsePlace,
} from "../../streams/event-place.ts";
import type { Callers } from "../access/caller.ts";
import { refuse } from "../errors.ts";
import { eventStream } from "../event-stream.ts";
import { type Followed, followTurn, tellToEnd } from "../told-turn.ts";
import { answered, HOP, handOn, lockedBy, notHere } from "./elsewhere.ts";
import { STREAM_HEADERS } from "./events.ts";
import { followAcross } from "./followed-across.ts";
import { heardAll, readPlace } from "./read-place.ts";

export function addStreamRoute(
  app: Hono,
  gateway: Gateway,
  { callers, log }: { callers: Callers; log: LogPort },
): void {
  const { cluster } = gateway;
  app.get("/api/sessions/:key/stream", async (context) => {
    const read = readPlace(context);
    if ("problem" in read) return refuse(context, "REQUEST_INVALID", read.problem);
    const since = read.place;
    const key = gateway.canonicalKey(context.req.param("key"));
    const left = new AbortController();
    const stream = eventStream({
      ...(since !== undefined && { since: formatPlace(since) }),
      onGone: () => left.abort(),
    });
    const listener = { gateway, key, stream, since, left: left.signal };
    const answerWith = (told: Promise<void>) => {
      tellToEnd({ ...listener, log }, told);
      return new Response(stream.body, { headers: STREAM_HEADERS });
    };
    const here = async (followed: Followed) =>
      followed.kind === "told"
        ? answerWith(followed.tell())
        : nothingTo(context, gateway, { key, since, isOver: followed.kind === "heard-all" });
    if (cluster === undefined) return here(await followTurn(listener));
    const owner = notHere(cluster, await cluster.ownerOf(key));
    if (context.req.header(HOP) !== undefined)
      return owner === null ? here(await followTurn(listener)) : lockedBy(context, key, owner);
    const followed = await followAcross(owner, {
      followHere: () => followTurn({ ...listener, since: parsePlace(stream.lastId()) }),
      sendTo: (address, signal) =>
        handOn(context, address, { callers, signal, since: stream.lastId() }),
      look: () => cluster.look(key, { name: null, signal: left.signal }),
      ...{ isHere: (address) => notHere(cluster, address) === null, over: cluster.alive },
      ...{ send: stream.send, lastId: stream.lastId, drained: stream.drained },
      left: left.signal,
    });
    if ("refused" in followed) return answered(followed.refused);
    return "followed" in followed ? here(followed.followed) : answerWith(followed.told);
  });
}

/** Nothing runs in the session. */
async function nothingTo(
  context: Context,
  gateway: Gateway,
  { key, since, isOver }: { key: string; since: EventPlace | undefined; isOver: boolean },
): Promise<Response> {
  if (isOver) return heardAll();
  if ((await gateway.store.find(key)) === null) throw sessionNotFound(key);
  const why =
    since === undefined || hasHeardNothing(since)
      ? "send a message, or follow what will happen by GET /api/events"
      : "what it had told until Last-Event-ID is not known any more, so read its messages";
  return refuse(context, "NOT_FOUND", `No turn runs in session "${shortName(key)}"; ${why}.`);
}
