// Tells a client a turn from where it left off, by what is remembered or stored of it.
import type { LogPort, TurnEvent } from "@clew/engine-core";
import { type AgentMessage, isAbort } from "@clew/plugin-sdk/core";
import { projectMessageForDisplay } from "@clew/transcript-policy";
import { concerns, describeEnd } from "../approvals/approval.ts";
import type { Watcher } from "../approvals/queue.ts";
import { type StoredTurn, storedTurns } from "../gateway/stored-turn.ts";
import { overOf, type TurnOver } from "../gateway/streamed-turn.ts";
import type { Gateway } from "../gateway.ts";
import { mendAfterFailure } from "../plugins/contain/shared-watch.ts";
import { inSafeMode } from "../plugins/load/record.ts";
import { describeThrown } from "../plugins/stray-errors.ts";
import {
  type EventPlace,
  formatPlace,
  hasHeardEnd,
  hasHeardNothing,
  NOTHING_HEARD,
} from "../streams/event-place.ts";
import { planReturn } from "../streams/plan-return.ts";
import {
  type NumberedEvent,
  placeIn,
  type RingEvent,
  type TurnRing,
} from "../streams/turn-ring.ts";
import type { Taken, ToldFrom } from "../waiting/item.ts";
import { toErrorResponse } from "./errors.ts";
import { type EventStream, shownEvent } from "./event-stream.ts";

/** Who is told, and what it has heard. */
export interface Listener {
  gateway: Gateway;
  /** Canonical. */
  key: string;
  stream: EventStream;
  /** Undefined: it comes for the first time. */
  since: EventPlace | undefined;
  /** It is gone. */
  left: AbortSignal;
}

/** Of a place in what is stored, of which no ring tells. */
const STORED = "s";

const END = Number.POSITIVE_INFINITY;

const storedPlace = (entryId: string | null, number = 0): string =>
  formatPlace({ ring: STORED, number, entryId });

/** Tells what comes of a message. Rejects where it has no turn, or another gateway goes on. */
export async function tellTaken(listener: Listener, { begun, result }: Taken): Promise<void> {
  const from =
    (await Promise.race([begun, null])) ?? (await whenBegun(listener, { begun, result }));
  if (from !== null) {
    const ring = from.ring as TurnRing<TurnOver>;
    await tellRing(listener, ring, from);
    await result;
    return tellRingsEnd(listener, ring);
  }
  const ended = await result;
  if (ended.outcome === "known") return tellKnown(listener, ended.entryId);
  return tellOver(listener, overOf(ended), formatPlace({ ...NOTHING_HEARD, number: END }));
}

/** Until then, what it waits for is told. Null: it has no turn of its own. */
function whenBegun(
  { gateway, stream, key }: Listener,
  { begun, result }: Pick<Taken, "begun" | "result">,
): Promise<ToldFrom | null> {
  const unwatch = gateway.approvals.attach(streamedTo(stream, key));
  return Promise.race([begun, result.then(() => null)]).finally(unwatch);
}

/** The message is stored: what was told of its turn, or what is stored of that. */
export async function tellKnown(listener: Listener, entryId: string): Promise<void> {
  const { gateway, key, stream, since } = listener;
  const ring = gateway.streams.telling(key, entryId);
  const number = ring?.numberOf(entryId);
  if (isGood(ring) && !isInDoubt(ring) && number !== undefined) {
    await tellRing(listener, ring, { ring, number, entryId });
    return tellRingsEnd(listener, ring);
  }
  const turn = await storedTurns(gateway).turn(key, entryId);
  const told = [entryId, ...turn.messages.map((message) => message.entryId)];
  const at = since?.entryId == null ? -1 : told.indexOf(since.entryId);
  tellRestarted(stream, since, at < 0 ? null : since!.entryId);
  if (at < 0) stream.send({ type: "accepted", entryId }, storedPlace(entryId));
  for (const message of turn.messages.slice(Math.max(0, at))) tellStored(stream, message);
  const over = { ending: turn.ending, cost: null };
  await tellOver(listener, over, storedPlace(told.at(-1)!, END));
}

export type Followed =
  /** `tell` settles when the turn is over, or rejects; `isLive`: here somebody remembers it. */
  | { kind: "told"; isLive: boolean; tell: () => Promise<void> }
  /** It has heard all there is, and nothing runs. */
  | { kind: "heard-all" }
  /** Nothing runs, and nothing is known of what it has heard. */
  | { kind: "none" };

/** What to tell whoever follows the turn of a session. */
export async function followTurn(listener: Listener): Promise<Followed> {
  const { gateway, key, since } = listener;
  const { streams } = gateway;
  const running = streams.running(key);
  if (since === undefined || hasHeardNothing(since))
    return running === undefined ? { kind: "none" } : told(listener, running);
  if (!hasHeardEnd(since)) {
    const { ring, entryId } = since;
    const own = streams.find(key, ring);
    const heard = isGood(own) || entryId === null ? own : (streams.telling(key, entryId) ?? own);
    if (isGood(heard)) return told(listener, heard);
  }
  const first = () => streams.running(key)?.firstEntry();
  const stored = await storedTurns(gateway).behind(key, since.entryId, first);
  return behindStored(listener, since, stored);
}

/** It goes on, or told the turn's end. */
const isGood = <Ring extends TurnRing>(ring: Ring | undefined): ring is Ring =>
  ring !== undefined && ring.ended()?.kind !== "broken";

/** Its storage failed, and tells by now what it has of the turn. */
function isInDoubt(ring: TurnRing<TurnOver>): boolean {
  const end = ring.ended();
  return end?.kind === "over" && end.over.ending.error?.code === "STORAGE_FAILED";
}

/** What is stored behind an entry, then what runs. */
function behindStored(
  listener: Listener,
  since: EventPlace,
  stored: StoredTurn | undefined,
): Followed {
  const { gateway, key, stream } = listener;
  const running = gateway.streams.running(key);
  if (stored === undefined)
    return running === undefined ? { kind: "none" } : told(listener, running);
  const { messages, ending } = stored;
  if (running === undefined && messages.length === 0 && hasHeardEnd(since))
    return { kind: "heard-all" };
  const tell = async () => {
    if (!hasHeardEnd(since)) tellRestarted(stream, since, since.entryId);
    for (const message of messages) tellStored(stream, message);
    if (running !== undefined) {
      const known = knownOf(running, { stored: messages, since });
      return told({ ...listener, since: undefined }, running, known).tell();
    }
    const last = messages.at(-1)?.entryId ?? since.entryId;
    return tellOver(listener, { ending, cost: null }, storedPlace(last, END));
  };
  return { kind: "told", isLive: running !== undefined, tell };
}

/**
 * What is told of a turn by what is stored, and what was heard of it before: a ring that goes on
 * with it elsewhere tells all of it, and may have begun to only by the time that it is asked.
 */
function knownOf(
  ring: TurnRing,
  { stored, since }: { stored: readonly { entryId: string }[]; since: EventPlace },
): IsKnown {
  const told = new Set(stored.map(({ entryId }) => entryId));
  const heardUpTo = () => (since.entryId === null ? undefined : ring.numberOf(since.entryId));
  return (entryId) => told.has(entryId) || (ring.numberOf(entryId) ?? END) <= (heardUpTo() ?? 0);
}

type IsKnown = (entryId: string) => boolean;

const NOTHING_KNOWN: IsKnown = () => false;

function told(
  listener: Listener,
  ring: TurnRing<TurnOver>,
  known = NOTHING_KNOWN,
): Extract<Followed, { kind: "told" }> {
  const tell = async () => {
    await tellRing(listener, ring, null, known);
    await tellRingsEnd(listener, ring);
  };
  return { kind: "told", isLive: true, tell };
}

/** From where the client left off to the end, as fast as it reads. */
async function tellRing(
  { stream, since, left }: Listener,
  ring: TurnRing<TurnOver>,
  from: ToldFrom | null,
  known = NOTHING_KNOWN,
): Promise<void> {
  const place = (number: number) => formatPlace(placeIn(ring, number));
  const restart = (keeps: string | null, number: number) =>
    stream.send({ type: "restarted", keeps }, place(number));
  const send = ({ number, event }: NumberedEvent) => {
    const isOwn = from !== null && event.type === "message" && event.entryId === from.entryId;
    if (isOwn) return stream.send({ type: "accepted", entryId: from.entryId }, place(number));
    if ("entryId" in event && known(event.entryId)) return;
    if (from === null && event.type === "accepted")
      return stream.send({ ...event, ...promptOf(ring) }, place(number));
    const shown = shownOf(event);
    if (shown !== undefined) stream.send(shown, place(number));
  };
  // What is told before the message that begins a turn is of that turn, too.
  const isFirst = from === null || ring.firstEntry() === from.entryId;
  const plan = planReturn(ring, isFirst ? 0 : from.number - 1, since);
  if (plan.restarted !== null) restart(plan.restarted.keeps, plan.after);
  for (let at = plan.after, isBegun = false; ; isBegun = true) {
    const { events, isWhole } = ring.after(at);
    // It read more slowly than is remembered.
    if (isWhole && isBegun) restart(ring.entryAt(at), at);
    for (const event of events) {
      await stream.drained();
      if (left.aborted) return;
      send(event);
      at = event.number;
    }
    if (at < ring.newest()) continue;
    if (ring.ended() !== undefined) return;
    await somethingIn(ring, left);
    if (left.aborted) return;
  }
}

/** Resolves when more is told, or nobody listens any more. */
const somethingIn = (ring: TurnRing, left: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const stop = () => {
      unfollow();
      left.removeEventListener("abort", stop);
      resolve();
    };
    const unfollow = ring.follow(stop);
    left.addEventListener("abort", stop, { once: true });
  });

async function tellRingsEnd(listener: Listener, ring: TurnRing<TurnOver>): Promise<void> {
  const end = ring.ended();
  if (end === undefined) return;
  if (end.kind === "broken") throw end.error;
  const place = { ring: ring.id, number: END, entryId: ring.entryAt(END) };
  await tellOver(listener, end.over, formatPlace(place));
}

async function tellOver(
  { gateway, key, stream }: Pick<Listener, "gateway" | "key" | "stream">,
  { ending, cost }: TurnOver,
  id: string,
): Promise<void> {
  const safeMode = inSafeMode(gateway.plugins?.records() ?? []);
  const done = {
    ...ending,
    ...(cost !== null && { cost: { turn: cost, session: await gateway.spentIn(key) } }),
    ...(safeMode.length > 0 && { safeMode }),
  };
  stream.send({ type: "done", ...done }, id);
}

/**
 * Ends the stream when all is told, and tells what failed; but a gateway that may no longer act
 * knows no end, and its client comes back to one that does.
 */
export function tellToEnd(
  { gateway, stream, log, key }: Pick<Listener, "gateway" | "stream" | "key"> & { log: LogPort },
  told: Promise<void>,
): void {
  const onFailure = (error: unknown) => {
    if (gateway.cluster?.alive.aborted !== true) tellFailure({ stream, log, key }, error);
  };
  void told.catch(onFailure).finally(stream.end);
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

/** What was heard of a reply is void; who heard stored entries alone has heard no such thing. */
function tellRestarted(
  stream: EventStream,
  since: EventPlace | undefined,
  keeps: string | null,
): void {
  if (since === undefined || hasHeardNothing(since)) return;
  if (since.ring === STORED && keeps !== null) return;
  stream.send({ type: "restarted", keeps }, storedPlace(keeps));
}

function tellStored(stream: EventStream, message: Extract<TurnEvent, { type: "message" }>): void {
  const shown = shownEvent(message);
  if (shown !== undefined) stream.send(shown, storedPlace(message.entryId));
}

function promptOf({ prompt }: TurnRing): { message?: AgentMessage } {
  const message = prompt && projectMessageForDisplay(prompt);
  return message === undefined ? {} : { message };
}

const shownOf = (event: RingEvent) =>
  event.type === "approval" || event.type === "approval_end" ? event : shownEvent(event);

/** Tells a client what its session waits for; it answers by a request of its own. */
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
