// Answers a client that sends its whole history each time.
import { setImmediate as nextRound } from "node:timers/promises";
import type { RawHeaders } from "../../passing/raw-headers.ts";
import { shortName } from "../../sessions/keys.ts";
import { BacklogFull } from "../../waiting/refusals.ts";
import { answerWith, type DoorCall, type DoorOutlet } from "../call/door-call.ts";
import { clientOf, logDoorRequest } from "../call/log-request.ts";
import { type AskedReply, endedHere, type ReplyUnderWay } from "../call/under-way.ts";
import { tellEnded } from "../reply/tell-ended.ts";
import { thrownAnswer } from "../session/turn-errors.ts";
import { type DoorTurn, lookThrough, takeIn } from "../turn/door-turn.ts";
import type { Upstream } from "../upstream/find-upstream.ts";
import type { MadeView } from "../view/make-view.ts";
import { askWithView, NOT_SENT, type Shown } from "./ask-with-view.ts";
import { endTurn, FAILED, networkError, tooLarge } from "./end-turn.ts";
import { meetExisting } from "./meet-existing.ts";
import type { TransparentParts } from "./parts.ts";
import { passRecalled } from "./pass-recalled.ts";
import { type Passed, passRefusal, passReply } from "./pass-reply.ts";

/** How long a client that does not read keeps a reply that was ended here, ms. */
const STUCK_MS = 300;

export async function answerTransparently(
  parts: TransparentParts,
  { call, upstream, outlet }: { call: DoorCall; upstream: Upstream; outlet: DoorOutlet },
): Promise<void> {
  await parts.memory.ready();
  await lookThrough(parts, call);
  if (isFirst(call)) await lookAround();
  await parts.recorder.forgetUnstored(parts.memory, (key) => parts.underWay.busy().has(key));
  const met = await meetExisting(parts, { call, upstream });
  const isTurn = !isBeside(met);
  if (isTurn) parts.goOnWithout(met.key);
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
    const { status, reason, ...answer } = thrownAnswer(call.wire, error);
    answerWith(outlet, { ...answer, status });
    logDoorRequest(log, {
      ...{ sessionKey: isNew ? null : asked.key, client: clientOf(call, match.key) },
      wire: call.wire.api,
      ...{ kind: match.kind, model: call.request.model, outcome: "refused" },
      ...{ durationMs: performance.now() - began, why: { status, reason, failure: error.code } },
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
    const answer = call.wire.error(402, refusal);
    endTurn(parts, turn, { kind: "refused", message: refusal, status: answer.status });
    return answerWith(outlet, answer, named);
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
    const answer = call.wire.overflow(view.overflow);
    endTurn(parts, turn, tooLarge(answer), shown);
    return answerWith(outlet, answer, named);
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
