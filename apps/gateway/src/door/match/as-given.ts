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
    .map(({ session }) => session);
  if (sessions.length === 0) return sketch;
  const list = request.messages.slice(request.leading);
  const found: Followed[] = [];
  for (const session of newestOf(known, sessions)) {
    const followed = yield* followSteps({ known, wire, list, sketch, session, from });
    if (followed !== undefined) found.push(followed);
  }
  const best = bestOf(found, { length: list.length, isAll: sessions.length <= MOST_SESSIONS });
  return best === undefined ? sketch : { ...sketch, messages: best.messages, renamed: best.list };
}

/** So many that began with the same words and calls are looked at, the ones in use last. */
const MOST_SESSIONS = 64;

function newestOf(known: KnownRequests, sessions: readonly string[]): readonly string[] {
  if (sessions.length <= MOST_SESSIONS) return sessions;
  const among = new Set(sessions);
  const byUse = [...known.sessions()].map(({ id }) => id).filter((id) => among.has(id));
  return byUse.slice(-MOST_SESSIONS);
}

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

const keyOf = ({ forms, words }: Told): string => [words, ...forms].join();

const isReply = (told: Told, reply: KnownReply): boolean =>
  reply.whole && keyOf(reply) === keyOf(told);

/** Replies of a session that has forgotten ends of its requests: each is told once, in order. */
class InOrder {
  readonly #places: ReadonlyMap<KnownReply, number>;
  readonly #alike: ReadonlyMap<string, readonly KnownReply[]>;
  #from = 0;

  constructor(replies: readonly KnownReply[]) {
    this.#places = new Map(replies.map((reply, place) => [reply, place]));
    this.#alike = Map.groupBy(replies, keyOf);
  }

  next(told: Told): KnownReply | undefined {
    return this.#alike.get(keyOf(told))?.find((reply) => this.#places.get(reply)! >= this.#from);
  }

  pass(reply: KnownReply): void {
    this.#from = (this.#places.get(reply) ?? this.#from - 1) + 1;
  }
}

/** The request as it would be in one session. */
interface Followed {
  messages: SketchedMessage[];
  list: JsonObject[];
  /** So many messages are an earlier request of that session. */
  known: number;
  /** True: this was one of its newest. */
  isTip: boolean;
}

/**
 * Of two that had the same up to there it is the one that waits for what is new here, the older one
 * first; then the one that is asked the same again. Undefined: it may as well be either.
 */
function bestOf(
  found: readonly Followed[],
  { length, isAll }: { length: number; isAll: boolean },
): Followed | undefined {
  const tips = found.filter(({ isTip }) => isTip);
  const waiting = mostKnown(tips.filter(({ known }) => known < length));
  const [first = mostKnown(tips)[0]] = waiting;
  if (first !== undefined) return first;
  const [only, ...others] = mostKnown(found);
  return isAll && others.length === 0 ? only : undefined;
}

function mostKnown(found: readonly Followed[]): Followed[] {
  const most = Math.max(...found.map(({ known }) => known));
  return found.filter(({ known }) => known === most);
}

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
  const inOrder = new InOrder(known.repliesOfLong(session));
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
      const given = endAt(chain.end)?.replies.findLast((each) => isReply(said, each));
      if (given !== undefined) told = index + run.length;
      const reply = given ?? inOrder.next(said);
      if (reply !== undefined) inOrder.pass(reply);
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
