// Gives calls back the ids they were given, where a client puts its own in their place.
import { type Steps, stepsAtOnce } from "@clew/plugin-sdk/host";
import type { DoorRequest, DoorWire, JsonObject } from "../wires/door-wire.ts";
import { idIn, isNamed, isSure } from "./call-key.ts";
import type { ClientKey } from "./client-key.ts";
import { beginsAlike } from "./head.ts";
import type { KnownReply, KnownRequests } from "./known-requests.ts";
import { hashOfWords } from "./reply-marks.ts";
import {
  type Chain,
  chainOf,
  hashOfForm,
  type Links,
  linkBehind,
  type RequestSketch,
  type SketchedMessage,
  sketchSteps,
} from "./sketch.ts";

export const sketchAsGiven = (
  known: KnownRequests,
  wire: DoorWire,
  request: DoorRequest,
  client: ClientKey,
): RequestSketch => stepsAtOnce(sketchAsGivenSteps(known, wire, request, client));

/**
 * A step for each message. Behind a known request stands the reply that was given to it, with the
 * same words and the same calls in order, and ids that nobody knows: these are the client's own.
 */
export function* sketchAsGivenSteps(
  known: KnownRequests,
  wire: DoorWire,
  request: DoorRequest,
  client: ClientKey,
): Steps<RequestSketch> {
  const sketch = yield* sketchSteps(wire, request, client);
  const { messages } = sketch;
  const first = messages.findIndex((message) => isForeign(known, message));
  const from = messages.findLastIndex(({ speaker }, at) => at < first && speaker !== "model") + 1;
  if (from <= 0) return sketch;
  const told = toldIn(messages.slice(from, endOfRun(messages, from)));
  const sessions = known
    .endsAt(messages[from - 1]!.end)
    .filter(
      ({ session, head, replies }) =>
        known.session(session)?.key === client.key &&
        beginsAlike(head, sketch.head) &&
        replies.some((reply) => isReply(told, reply)),
    )
    .slice(-MOST_SESSIONS);
  if (sessions.length === 0) return sketch;
  const list = request.messages.slice(request.leading);
  let best: Followed | undefined;
  for (const { session } of sessions) {
    const followed = yield* followSteps({ known, wire, list, sketch, session, from });
    if (followed !== undefined && isBetter(followed, best)) best = followed;
  }
  if (best === undefined) return sketch;
  return { ...sketch, messages: best.messages, renamed: best.list };
}

/** So many that began with the same words and calls are looked at, the newest. */
const MOST_SESSIONS = 16;

/** A call under an id that tells it, which no session has. */
const isForeign = (known: KnownRequests, { speaker, callKeys }: SketchedMessage): boolean =>
  speaker === "model" && callKeys.some((key) => isSure(key) && !known.hasCall(key));

function endOfRun(messages: readonly SketchedMessage[], from: number): number {
  let end = from;
  while (messages[end]?.speaker === "model") end++;
  return end;
}

/** What a model said and called without a break, as replies are known. */
type Told = Pick<KnownReply, "forms" | "words">;

/** By the last message of each run; there is work for each call and word. */
const TOLD = new WeakMap<SketchedMessage, Told>();

function toldIn(run: readonly SketchedMessage[]): Told {
  const last = run.at(-1)!;
  const told = TOLD.get(last) ?? {
    forms: run.flatMap(({ forms }) => forms.map(hashOfForm)),
    words: hashOfWords(run.map(({ text }) => text)),
  };
  TOLD.set(last, told);
  return told;
}

const isReply = ({ forms, words }: Told, reply: KnownReply): boolean =>
  reply.whole && reply.words === words && reply.forms.join() === forms.join();

/** The request as it would be in one session. */
interface Followed {
  messages: SketchedMessage[];
  list: JsonObject[];
  /** So many messages are an earlier request of that session. */
  known: number;
  /** True: this was one of its newest. */
  isTip: boolean;
}

/** Of equal ones the older session, as everywhere. */
const isBetter = (next: Followed, best: Followed | undefined): boolean =>
  best === undefined ||
  next.known > best.known ||
  (next.known === best.known && next.isTip && !best.isTip);

/** What is not renamed stands in the client's own chain, too. */
const LINKS_AS_GIVEN: Links = new WeakMap();

/** Undefined: a model has said something in it that this session's did not. */
function* followSteps({
  known,
  wire,
  list,
  sketch,
  session,
  from,
}: {
  known: KnownRequests;
  wire: DoorWire;
  list: readonly JsonObject[];
  sketch: RequestSketch;
  session: string;
  /** Where the first reply under other ids begins. */
  from: number;
}): Steps<Followed | undefined> {
  const own = sketch.messages;
  const messages: SketchedMessage[] = [];
  const renamed: JsonObject[] = [];
  const names = new Map<string, string>();
  const endAt = (end: string) => known.endsAt(end).find((each) => each.session === session);
  let chain: Chain = chainOf(wire);
  let asked = 0;
  let tip = "";
  /** What stands before this has been said in the session. */
  let told = from;
  for (let index = 0; index < list.length; index++) {
    const { speaker } = own[index]!;
    if (index >= from && speaker === "model" && own[index - 1]?.speaker !== "model") {
      const run = own.slice(index, endOfRun(own, index));
      const said = toldIn(run);
      const reply = endAt(chain.end)?.replies.findLast((each) => isReply(said, each));
      if (reply !== undefined) told = index + run.length;
      if (run.some((message) => isForeign(known, message))) {
        const calls = run.flatMap((message) => message.calls);
        if (reply?.calls.length !== calls.length || !reply.calls.every(isNamed)) return undefined;
        for (const [at, id] of calls.entries()) names.set(id, idIn(reply.calls[at]!));
      }
    }
    const message =
      speaker === "model" || speaker === "tools"
        ? withNames(wire, list[index]!, names)
        : list[index]!;
    const links = index < from ? {} : { links: LINKS_AS_GIVEN };
    const link = linkBehind(chain, wire, message, { index, ...links });
    chain = link;
    renamed.push(message);
    messages.push(link.newest);
    if (link.newest.hash !== null && endAt(chain.end) !== undefined) {
      asked = index + 1;
      told = Math.max(told, asked);
      tip = chain.end;
    }
    yield;
  }
  if (own.some(({ speaker }, at) => at >= told && speaker === "model")) return undefined;
  const isTip = known.session(session)?.branches.some((branch) => branch.tip === tip) ?? false;
  return { messages, list: renamed, known: asked, isTip };
}

/** The same object again, so that it need not be looked at again. */
const RENAMED = new WeakMap<JsonObject, { ids: string; message: JsonObject }>();

function withNames(
  wire: DoorWire,
  message: JsonObject,
  names: ReadonlyMap<string, string>,
): JsonObject {
  if (names.size === 0) return message;
  const ids: string[] = [];
  const named = wire.withIds(message, (id) => {
    const given = names.get(id) ?? id;
    ids.push(given);
    return given;
  });
  const told = ids.join("\n");
  const before = RENAMED.get(message);
  if (before?.ids === told) return before.message;
  RENAMED.set(message, { ids: told, message: named });
  return named;
}
