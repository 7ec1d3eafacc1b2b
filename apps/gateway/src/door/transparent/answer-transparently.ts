// Answers a client that sends its whole history each time.
import { setImmediate as nextRound } from "node:timers/promises";
import type { ModelError } from "@clew/plugin-sdk/host";
import { promptTokensOf } from "@clew/plugin-sdk/host";
import { withCost } from "../../costs/cost.ts";
import type { UpstreamAnswer } from "../../passing/ask-upstream.ts";
import { headersBack } from "../../passing/pass-headers.ts";
import { headerOf, type RawHeaders } from "../../passing/raw-headers.ts";
import { classifyRefusal, type Refusal, readRefusal } from "../../passing/refusal.ts";
import { shortName } from "../../sessions/keys.ts";
import { BacklogFull } from "../../waiting/refusals.ts";
import { answerWith, type DoorCall, type DoorOutlet } from "../call/door-call.ts";
import { clientOf, logDoorRequest } from "../call/log-request.ts";
import type { DoorParts } from "../call/parts.ts";
import { type AskedReply, endedHere, type ReplyUnderWay } from "../call/under-way.ts";
import { endOf } from "../match/plan-ingest.ts";
import type { DoorMemory } from "../memory/door-memory.ts";
import type { SessionNotes } from "../memory/journal-lines.ts";
import { answerWithRecall, type Recalled } from "../recall/answer-with-recall.ts";
import { passHeld } from "../recall/hold-reply.ts";
import type { LookUp } from "../recall/look-up.ts";
import { usageOfAll } from "../recall/usage-of-all.ts";
import type { Recorder } from "../record/recorder.ts";
import { type BegunAnswer, tellEnded } from "../reply/tell-ended.ts";
import { thrownAnswer } from "../session/turn-errors.ts";
import { type DoorTurn, lookThrough, meetTurn, takeIn, viewOf } from "../turn/door-turn.ts";
import type { Upstream } from "../upstream/find-upstream.ts";
import { knowLast } from "../upstream/know-last.ts";
import { type PeekedReply, peekReply } from "../upstream/peek-reply.ts";
import { type AskAcross, reach, type Unreached } from "../upstream/reach.ts";
import { relay } from "../upstream/relay.ts";
import type { MadeView } from "../view/make-view.ts";
import { learnOverflow, learnUsage } from "./learn-size.ts";
import { replyEventOf } from "./reply-event.ts";

export interface TransparentParts extends DoorParts {
  across: AskAcross;
  memory: DoorMemory;
  recorder: Recorder;
  lookUp: LookUp;
}

/** How long a client that does not read keeps a reply that was ended here, ms. */
const STUCK_MS = 300;

export async function answerTransparently(
  parts: TransparentParts,
  { call, upstream, outlet }: { call: DoorCall; upstream: Upstream; outlet: DoorOutlet },
): Promise<void> {
  await parts.memory.ready();
  await lookThrough(call);
  if (isFirst(call)) await lookAround();
  await parts.recorder.forgetUnstored(parts.memory, (key) => parts.underWay.busy().has(key));
  const met = meetTurn(parts, { call, upstream });
  const isTurn = !isBeside(met);
  const asked = { key: met.key, bytes: call.bytes.length, isTurn, gone: outlet.gone };
  const underWay = placeFor(parts, asked, { met, outlet });
  if (underWay === undefined) return;
  const turn = { ...met, gone: underWay.signal, left: outlet.gone };
  const named: RawHeaders = [["x-clew-session", shortName(turn.key)]];
  let stuck: NodeJS.Timeout | undefined;
  const endOutlet = () => {
    if (endedHere(turn.gone) !== undefined)
      stuck = setTimeout(() => outlet.breakOff(), STUCK_MS).unref();
  };
  turn.gone.addEventListener("abort", endOutlet, { once: true });
  try {
    takeIn(parts, turn);
    parts.recorder.taken(turn);
    await underWay.granted().catch((error: unknown) => {
      endTurn(parts, turn, FAILED);
      throw error;
    });
    await answerTurn(parts, turn, { outlet: endable(outlet, turn.gone), named });
  } catch (error) {
    const ended = endedHere(turn.gone);
    if (ended === undefined) throw error;
    tellEnded(outlet, call, { ended, named });
  } finally {
    clearTimeout(stuck);
    turn.gone.removeEventListener("abort", endOutlet);
    // It was said, and is known from now on: whoever left, or was refused, is stored as well.
    parts.recorder.request(turn, parts.memory.notesOf(turn.key));
    underWay.leave();
  }
}

/** What a client asks without tools is about its conversation, and not of it. */
const isBeside = ({ match: { kind, family }, call }: Pick<DoorTurn, "match" | "call">) =>
  kind !== "turn" || (family !== undefined && call.request.tools.length === 0);

interface Refusable {
  met: Pick<DoorTurn, "call" | "match" | "began" | "isNew">;
  outlet: DoorOutlet;
}

/** Undefined: there is none, and its client was told when to ask again. */
function placeFor(
  { underWay, log }: TransparentParts,
  asked: AskedReply,
  { met, outlet }: Refusable,
): ReplyUnderWay | undefined {
  try {
    return underWay.enter(asked);
  } catch (error) {
    if (!(error instanceof BacklogFull)) throw error;
    const { call, match, began, isNew } = met;
    answerWith(outlet, thrownAnswer(call.wire, error));
    logDoorRequest(log, {
      ...{ sessionKey: isNew ? null : asked.key, client: clientOf(call, match.key) },
      wire: call.wire.api,
      ...{ kind: match.kind, model: call.request.model, outcome: "refused", usage: null },
      ...{ durationMs: performance.now() - began, reason: error.message },
    });
    return undefined;
  }
}

/** The same way back, on which nobody is any more when the reply is ended here. */
const endable = (outlet: DoorOutlet, gone: AbortSignal): DoorOutlet => ({
  ...{ gone, lost: outlet.lost },
  get hasBegun() {
    return outlet.hasBegun;
  },
  begin: (status, headers) => outlet.begin(status, headers),
  write: (bytes) => outlet.write(bytes),
  hasTaken: () => outlet.hasTaken(),
  end: () => outlet.end(),
  breakOff: () => outlet.breakOff(),
});

async function answerTurn(
  parts: TransparentParts,
  turn: DoorTurn,
  { outlet, named }: Pick<Passed, "outlet" | "named">,
): Promise<void> {
  const { call } = turn;
  await parts.recorder.caughtUp(turn.key);
  const refusal = await parts.recorder.refusalOf(turn);
  if (refusal !== undefined) {
    endTurn(parts, turn, { kind: "refused", message: refusal });
    return answerWith(outlet, call.wire.error(402, refusal), named);
  }
  let asked: Shown | undefined;
  const onAsked = (view: MadeView) => {
    asked = { view, bytes: 0, outcome: NOT_SENT };
  };
  const shown = await askWithView(parts, turn, { outlet, onAsked }).catch((error: unknown) => {
    endTurn(parts, turn, FAILED, asked);
    throw error;
  });
  const { view, outcome } = shown;
  if (view.overflow !== undefined) {
    endTurn(parts, turn, TOO_LARGE, shown);
    return answerWith(outlet, call.wire.overflow(view.overflow), named);
  }
  if ("problem" in outcome) {
    endTurn(parts, turn, networkError(outcome), shown);
    return answerWith(outlet, call.wire.error(outcome.status, outcome.problem), named);
  }
  if ("body" in outcome) {
    endTurn(parts, turn, outcome.error, shown);
    return passRefusal(outcome, outlet, named);
  }
  const { recallRoom } = view;
  const passed = { answer: outcome, outlet, named, shown };
  if (recallRoom === undefined) return passReply(parts, turn, passed);
  await passRecalled(parts, turn, { ...passed, recallRoom });
}

/** No model has spoken in it: what was asked just so may be somebody else's. */
const isFirst = ({ wire, request }: DoorCall) =>
  !request.messages.some((message) => wire.look(message).speaker === "model");

/** Clients that went away are seen before what they ask again. */
async function lookAround(): Promise<void> {
  await nextRound();
  await nextRound();
}

const TOO_LARGE: ModelError = {
  kind: "overflow",
  message: "The request does not fit into the model's window, whatever is left out of it.",
};

const networkError = ({ problem, kind = "network", unsent }: Unreached): ModelError => ({
  ...({ kind, message: problem } as ModelError),
  ...(unsent && { unsent }),
});
const FAILED: ModelError = { kind: "network", message: "The gateway failed; its log says how." };

interface Shown {
  view: MadeView;
  /** The bytes that were sent. */
  bytes: number;
  outcome: UpstreamAnswer | Unreached | (Refusal & { error: ModelError });
}

/** Once more, and smaller, where the model server says that it is too much. */
async function askWithView(
  parts: TransparentParts,
  turn: DoorTurn,
  { outlet, onAsked }: { outlet: DoorOutlet; onAsked: (view: MadeView) => void },
): Promise<Shown> {
  const { memory } = parts;
  let view = await showAndKeep(parts, turn, (notes) => notes);
  parts.recorder.request(turn, memory.notesOf(turn.key));
  for (let tries = 1; ; tries++) {
    if (view.overflow !== undefined) return { view, bytes: 0, outcome: NOT_SENT };
    turn.gone.throwIfAborted();
    const body = view.bytes;
    onAsked(view);
    parts.recorder.asked(turn, { view, scale: memory.notesOf(turn.key).scale });
    await parts.recorder.begun(turn);
    const isUnpacked = view.recallRoom !== undefined;
    const asked = { visit: turn.call, upstream: turn.upstream, body, isUnpacked };
    const answer = await reach(parts, { ...asked, signal: outlet.gone });
    turn.gone.throwIfAborted();
    if ("problem" in answer || answer.status < 400)
      return { view, bytes: body.length, outcome: answer };
    const refusal = await readRefusal(answer);
    const error = classifyRefusal(refusal, turn);
    const outcome = { ...refusal, error };
    if (error.kind !== "overflow") return { view, bytes: body.length, outcome };
    const refused = view;
    view = await showAndKeep(parts, turn, (notes) =>
      learnOverflow(notes, { error, view: refused, window: turn.window }),
    );
    if (tries > 1 || view.overflow !== undefined)
      return { view: refused, bytes: body.length, outcome };
  }
}

/** Of a long history in slices: where the session's view moved meanwhile, once more from there. */
async function showAndKeep(
  parts: TransparentParts,
  turn: DoorTurn,
  learn: (notes: SessionNotes) => SessionNotes,
): Promise<MadeView> {
  const { memory, lookUp } = parts;
  for (;;) {
    const before = memory.notesOf(turn.key);
    const notes = learn(before);
    const view = await viewOf(turn, notes, lookUp.tools);
    if (memory.notesOf(turn.key) !== before) continue;
    keep(parts, turn, notes, view);
    return view;
  }
}

const NOT_SENT: Unreached = { status: 400, problem: "" };

/** A request beside a session moves nothing. */
function keep(
  { memory }: TransparentParts,
  { key, match }: DoorTurn,
  notes: SessionNotes,
  { plan, overflow }: MadeView,
): void {
  if (match.kind !== "turn") return;
  memory.note(key, overflow === undefined ? { ...notes, marks: plan.marks } : notes);
}

function passRefusal({ status, headers, body }: Refusal, outlet: DoorOutlet, named: RawHeaders) {
  outlet.begin(status, [...headersBack(headers), ...named]);
  void outlet.write(body);
  outlet.end();
}

interface Passed {
  answer: UpstreamAnswer;
  outlet: DoorOutlet;
  named: RawHeaders;
  shown: Shown;
}

async function passReply(
  parts: TransparentParts,
  turn: DoorTurn,
  { answer, outlet, named, shown }: Passed,
): Promise<void> {
  const { resolved } = turn.upstream;
  const tell = parts.recorder.follow(turn);
  const peek = peekReply({
    api: turn.call.wire.api,
    ...{ resolved, answer },
    maxBytes: parts.host.config.gateway.limits.answerBytes,
    onEvent: tell,
  });
  let isLearned = false;
  // Whoever has the end of a reply may go on from it at once.
  const learn = (reply: PeekedReply) => {
    if (isLearned) return;
    isLearned = true;
    endTurn(parts, turn, reply, shown);
  };
  const begun: BegunAnswer = { headers: answer.headers, tail: new Uint8Array() };
  const isEvents = headerOf(answer.headers, "content-type")?.includes("event-stream") === true;
  const { pieces, isOver } = knowLast(answer.bytes, (piece) => !isEvents || mayEnd(turn, piece));
  const end = await relay({ ...answer, bytes: pieces }, outlet, {
    more: named,
    async peek(piece) {
      if (!turn.gone.aborted) begun.tail = piece;
      const reply = (await peek.push(piece)) ?? (isOver() ? await peek.end("whole") : undefined);
      if (reply !== undefined) learn(reply);
      // Who has the end of a reply need say neither again, what was asked nor what was replied.
      if (reply !== undefined || !isEvents) await orGone(turn, parts.recorder.kept(turn));
    },
  });
  if (!isLearned) learn(await peek.end(end));
  if (end === "whole") await orGone(turn, parts.recorder.kept(turn));
  const ended = endedHere(turn.gone);
  if (end === "whole") outlet.end();
  else if (ended === undefined) outlet.breakOff();
  else tellEnded(outlet, turn.call, { ended, named, begun });
}

/** By Google's wire a reply has no event of its own behind its last words. */
const mayEnd = ({ call }: DoorTurn, piece: Uint8Array): boolean =>
  call.wire.api === "google-generative-ai" && Buffer.from(piece).includes("finishReason");

/** The client sees only the last reply; what breaks off behind a sign of life it asks again. */
async function passRecalled(
  parts: TransparentParts,
  turn: DoorTurn,
  { answer, outlet, named, shown, recallRoom: room }: Passed & { recallRoom: number },
): Promise<void> {
  const { answerBytes } = parts.host.config.gateway.limits;
  const asked = { ...{ turn, answer, room, outlet, named }, view: shown.view };
  const recalled = await answerWithRecall({ ...parts, answerBytes }, asked).catch(
    (error: unknown) => {
      endTurn(parts, turn, FAILED, shown);
      throw error;
    },
  );
  const { last } = recalled;
  if ("pieces" in last) {
    const tell = parts.recorder.follow(turn);
    for (const event of last.events) tell(event);
    endTurn(parts, turn, last.reply, shown, recalled);
    const ended = endedHere(turn.gone);
    if (ended === undefined) {
      await orGone(turn, parts.recorder.kept(turn));
      return passHeld(last, outlet, named);
    }
    const begun = { headers: last.answer.headers, tail: new Uint8Array() };
    return tellEnded(outlet, turn.call, { ended, named, begun });
  }
  if ("problem" in last) {
    endTurn(parts, turn, networkError(last), shown, recalled);
    if (outlet.hasBegun) return outlet.breakOff();
    return answerWith(outlet, turn.call.wire.error(last.status, last.problem), named);
  }
  const refusal = await readRefusal(last);
  endTurn(parts, turn, classifyRefusal(refusal, turn), shown, recalled);
  if (outlet.hasBegun) outlet.breakOff();
  else passRefusal(refusal, outlet, named);
}

function endTurn(
  { memory, recorder }: TransparentParts,
  turn: DoorTurn,
  ended: PeekedReply | ModelError,
  shown?: Shown,
  recalled?: Recalled,
): void {
  const came: PeekedReply =
    "message" in ended && typeof ended.message === "object"
      ? (ended as PeekedReply)
      : { message: NOTHING, error: ended as ModelError };
  const isEnded = came.error !== undefined && turn.gone.aborted;
  const reply = isEnded ? { ...came, error: whyGone(turn) } : came;
  const { resolved } = turn.upstream;
  const [first, ...others] = [...(recalled?.earlier ?? []), reply.message].map((one) =>
    withCost(one, {}, resolved.prices),
  );
  const usage = usageOfAll([first!, ...others]);
  const message = { ...reply.message, ...(usage !== undefined && { usage }) };
  const event = replyEventOf(turn, { ...reply, message }, endOf(turn.sketch));
  memory.learn(event);
  if (shown !== undefined && turn.match.kind === "turn")
    memory.note(
      turn.key,
      learned(memory.notesOf(turn.key), turn, shown.view, {
        ...reply,
        message: { ...reply.message, ...(first?.usage && { usage: first.usage }) },
      }),
    );
  recorder.reply(turn, {
    ...{ reply: { ...reply, message }, event, notes: memory.notesOf(turn.key) },
    ...(shown !== undefined && { view: shown.view }),
    ...(others.length > 0 &&
      recalled !== undefined && {
        recalled: { lookedUp: recalled.lookedUp, firstUsage: first?.usage },
      }),
    durationMs: performance.now() - turn.began,
  });
}

async function orGone({ gone }: DoorTurn, done: Promise<void>): Promise<void> {
  const left = Promise.withResolvers<void>();
  const leave = () => left.resolve();
  if (gone.aborted) return;
  gone.addEventListener("abort", leave, { once: true });
  await Promise.race([done, left.promise]);
  gone.removeEventListener("abort", leave);
}

const whyGone = ({ gone }: DoorTurn): ModelError => ({
  kind: "aborted",
  message: (gone.reason as Error).message,
});

/** Some say only behind the status that a prompt is too long; one that was refused was learned. */
function learned(
  notes: SessionNotes,
  { window }: DoorTurn,
  view: MadeView,
  { message, error, isStreamed }: PeekedReply,
): SessionNotes {
  if (error?.kind === "overflow")
    return isStreamed ? learnOverflow(notes, { error, view, window }) : notes;
  return message.usage === undefined
    ? notes
    : learnUsage(notes, view, promptTokensOf(message.usage));
}

const NOTHING = { role: "assistant", content: [], stopReason: "error" } as const satisfies {
  role: "assistant";
} & PeekedReply["message"];
