// Numbers what happens in a gateway, and tells it to whoever follows.
import { randomBytes } from "node:crypto";
import { createDeltas } from "./deltas.ts";
import { encodeEvent } from "./encode.ts";
import { createFeed, type Feed, type Next } from "./feed.ts";
import { createRing } from "./ring.ts";
import { type RunningTurns, sinceLast, takeEvent } from "./running.ts";
import type { GatewayEvent, NewEvent } from "./shapes.ts";

export interface EventHub {
  /** `also`: further sessions whose followers are told. */
  publish(event: NewEvent, also?: readonly string[]): void;
  /** Told at once of what is told in a session, whole; the function it gives ends that. */
  listen(session: string, listener: (event: NewEvent) => void): () => void;
  /** Of a reply that is being written. */
  delta(session: string, type: "text" | "thinking", delta: string): void;
  /**
   * A stream of server-sent events, from behind the event `since` on, if these are still kept.
   */
  follow(request: Follow): ReadableStream<Uint8Array>;
  /** How many follow now. */
  followers(): number;
  /** Ends all streams. */
  close(): void;
}

export interface Follow {
  /** Absent: from now on, beginning with what is under way. */
  since?: string | undefined;
  /** Canonical key: events of other sessions are left out. Absent: of all sessions. */
  session?: string | undefined;
}

export interface EventHubOptions {
  /** How long pieces of a reply are gathered. */
  deltaMs?: number;
  /** Between two signs of life. */
  beatMs?: number;
  /** A client that reads nothing for so long is cut off. */
  cutMs?: number;
  /** How long events are kept for the last one who followed to come back. */
  keepMs?: number;
  maxEvents?: number;
  maxBytes?: number;
}

const DEFAULTS = {
  deltaMs: 25,
  beatMs: 15_000,
  cutMs: 60_000,
  keepMs: 120_000,
  maxEvents: 20_000,
  maxBytes: 8 * 2 ** 20,
} satisfies Required<EventHubOptions>;

/** Events go out in pieces of about this size. */
const CHUNK_BYTES = 64 * 1024;

export function createEventHub(options: EventHubOptions = {}): EventHub {
  const { deltaMs, beatMs, cutMs, keepMs, maxEvents, maxBytes } = { ...DEFAULTS, ...options };
  // Numbers of another process name other events.
  const process = randomBytes(4).toString("hex");
  const ring = createRing({ maxEvents, maxBytes });
  const running: RunningTurns = new Map();
  const feeds = new Set<Feed>();
  const listeners = new Map<string, Set<(event: NewEvent) => void>>();
  let leftAt = Number.NEGATIVE_INFINITY;
  let beats: NodeJS.Timeout | undefined;
  let isWaking = false;

  const now = () => new Date().toISOString();
  const idOf = (number: number) => `${process}.${number}`;
  const numberOf = (id: string): number | undefined => {
    const [boot, number] = id.split(".");
    return boot === process && /^\d{1,15}$/.test(number ?? "") ? Number(number) : undefined;
  };
  /** Once for all that happens at a time. */
  const wakeSoon = () => {
    if (isWaking) return;
    isWaking = true;
    setImmediate(() => {
      isWaking = false;
      for (const feed of feeds) feed.wake();
    });
  };
  const add = (event: NewEvent, also: readonly string[]) => {
    const at = now();
    const told = asTold(event, running);
    takeEvent(running, event, at);
    if ("session" in event && event.session !== null)
      for (const listener of listeners.get(event.session) ?? []) listener(event);
    if (feeds.size === 0 && performance.now() - leftAt > keepMs) return ring.skip();
    const session = "session" in event ? event.session : null;
    const whole = { ...told, id: idOf(ring.newest() + 1), at } as GatewayEvent;
    ring.add({
      sessions: session === null ? null : [session, ...also],
      bytes: encodeEvent(whole),
    });
    wakeSoon();
  };
  const deltas = createDeltas({
    waitMs: deltaMs,
    tell: (session, type, delta) => add({ type, session, delta }, []),
  });
  const underWay = (told: { type: "hello" } | { type: "reset"; why: string }, session?: string) => {
    deltas.flush();
    const turns = [...running.values()].filter(
      (turn) => session === undefined || turn.session === session,
    );
    return encodeEvent({ ...told, id: idOf(ring.newest()), at: now(), running: turns });
  };
  const nextFor = (session: string | undefined, at: number): Next => {
    if (!ring.holdsAfter(at))
      return {
        kind: "lost",
        bytes: underWay({ type: "reset", why: "More happened than is kept." }, session),
        at: ring.newest(),
      };
    return gather(ring, { after: at, session });
  };
  const placeOf = ({ since, session }: Follow): { begin: Uint8Array; at: number } => {
    if (since === undefined) {
      const begin = underWay({ type: "hello" }, session);
      return { begin, at: ring.newest() };
    }
    const number = numberOf(since);
    if (number !== undefined && ring.holdsAfter(number)) return { begin: NOTHING, at: number };
    const why =
      number === undefined
        ? "The gateway was started anew, or never told of this event."
        : "What happened since is not kept any more.";
    const begin = underWay({ type: "reset", why }, session);
    return { begin, at: ring.newest() };
  };
  const beat = () => {
    for (const feed of [...feeds]) feed.beat();
  };
  return {
    publish(event, also = []) {
      if ("session" in event && event.session !== null) deltas.flush(event.session);
      add(event, also);
    },
    listen(session, listener) {
      const all = listeners.get(session) ?? new Set();
      listeners.set(session, all.add(listener));
      return () => {
        all.delete(listener);
        if (all.size === 0) listeners.delete(session);
      };
    },
    delta: deltas.add,
    follow(request) {
      const { session } = request;
      const { begin, at } = placeOf(request);
      const feed = createFeed({
        begin: Buffer.concat([RETRY, begin]),
        at,
        next: (place) => nextFor(session, place),
        // A browser that comes back names it, also when nothing was told in its session.
        beat: (place) => encoder.encode(`id: ${idOf(place)}\n\n`),
        cutMs,
        onGone() {
          feeds.delete(feed);
          leftAt = performance.now();
          if (feeds.size === 0) clearInterval(beats);
        },
      });
      if (feeds.size === 0) beats = setInterval(beat, beatMs).unref();
      feeds.add(feed);
      return feed.body;
    },
    followers: () => feeds.size,
    close() {
      for (const feed of [...feeds]) feed.end();
    },
  };
}

const asTold = (event: NewEvent, running: RunningTurns): NewEvent =>
  event.type === "call"
    ? { ...event, call: sinceLast(event.call, running.get(event.session)?.call) }
    : event;

const encoder = new TextEncoder();
const NOTHING = new Uint8Array();
/** How soon a browser comes back, ms. */
const RETRY = encoder.encode("retry: 1000\n\n");

/** What there is for a follower of `session` after a place, at most about a chunk. */
function gather(
  ring: Pick<ReturnType<typeof createRing>, "get">,
  { after, session }: { after: number; session: string | undefined },
): Next {
  const found: Uint8Array[] = [];
  let bytes = 0;
  let at = after;
  for (let event = ring.get(at + 1); event !== undefined; event = ring.get(at + 1)) {
    const isWanted =
      session === undefined || event.sessions === null || event.sessions.includes(session);
    if (isWanted && bytes > 0 && bytes + event.bytes.length > CHUNK_BYTES) break;
    at = event.number;
    if (!isWanted) continue;
    found.push(event.bytes);
    bytes += event.bytes.length;
  }
  if (found.length === 0) return { kind: "none", at };
  // The bytes of one event are the same for all who follow.
  return { kind: "events", at, bytes: found.length === 1 ? found[0]! : Buffer.concat(found) };
}
