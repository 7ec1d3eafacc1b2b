// Answers a client that sends its whole history each time.
import type { ModelError } from "@clew/plugin-sdk/host";
import { promptTokensOf } from "@clew/plugin-sdk/host";
import { withCost } from "../../costs/cost.ts";
import { shortName } from "../../sessions/keys.ts";
import { editBody } from "../body/edit-body.ts";
import { answerWith, type DoorCall, type DoorOutlet, type RawHeaders } from "../call/door-call.ts";
import type { DoorParts } from "../call/parts.ts";
import { endOf } from "../match/plan-ingest.ts";
import type { DoorMemory } from "../memory/door-memory.ts";
import type { SessionNotes } from "../memory/journal-lines.ts";
import type { Recorder } from "../record/recorder.ts";
import { type DoorTurn, openTurn, viewOf } from "../turn/door-turn.ts";
import type { UpstreamAnswer } from "../upstream/ask-upstream.ts";
import type { Upstream } from "../upstream/find-upstream.ts";
import { headersBack } from "../upstream/pass-headers.ts";
import { type PeekedReply, peekReply } from "../upstream/peek-reply.ts";
import { type AskAcross, reach, type Unreached } from "../upstream/reach.ts";
import { classifyRefusal, type Refusal, readRefusal } from "../upstream/refusal.ts";
import { relay } from "../upstream/relay.ts";
import type { MadeView } from "../view/make-view.ts";
import { learnOverflow, learnUsage } from "./learn-size.ts";
import { replyEventOf } from "./reply-event.ts";

export interface TransparentParts extends DoorParts {
  across: AskAcross;
  memory: DoorMemory;
  recorder: Recorder;
}

export async function answerTransparently(
  parts: TransparentParts,
  { call, upstream, outlet }: { call: DoorCall; upstream: Upstream; outlet: DoorOutlet },
): Promise<void> {
  await parts.memory.ready();
  const turn = openTurn(parts, { call, upstream });
  const named: RawHeaders = [["x-clew-session", shortName(turn.key)]];
  const refusal = await parts.recorder.refusalOf(turn);
  if (refusal !== undefined) {
    endTurn(parts, turn, { kind: "refused", message: refusal });
    return answerWith(outlet, call.wire.error(402, refusal), named);
  }
  const shown = await askWithView(parts, turn, outlet).catch((error: unknown) => {
    endTurn(parts, turn, outlet.gone.aborted ? GONE : FAILED);
    throw error;
  });
  const { view, outcome } = shown;
  if (view.overflow !== undefined) {
    endTurn(parts, turn, TOO_LARGE, shown);
    return answerWith(outlet, call.wire.overflow(view.overflow), named);
  }
  if ("problem" in outcome) {
    endTurn(parts, turn, { kind: "network", message: outcome.problem }, shown);
    return answerWith(outlet, call.wire.error(outcome.status, outcome.problem), named);
  }
  if ("body" in outcome) {
    endTurn(parts, turn, outcome.error, shown);
    return passRefusal(outcome, outlet, named);
  }
  await passReply(parts, turn, { answer: outcome, outlet, named, shown });
}

const TOO_LARGE: ModelError = {
  kind: "overflow",
  message: "The request does not fit into the model's window, whatever is left out of it.",
};

const GONE: ModelError = { kind: "aborted", message: "The client went away." };
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
  outlet: DoorOutlet,
): Promise<Shown> {
  const { memory } = parts;
  let notes = memory.notesOf(turn.key);
  let view = viewOf(turn, notes);
  keep(parts, turn, notes, view);
  parts.recorder.request(turn, memory.notesOf(turn.key));
  for (let tries = 1; ; tries++) {
    if (view.overflow !== undefined) return { view, bytes: 0, outcome: NOT_SENT };
    const text = withModel(turn, view.text);
    const body = text === turn.call.text ? turn.call.bytes : new TextEncoder().encode(text);
    const asked = { visit: turn.call, upstream: turn.upstream, body, signal: outlet.gone };
    const answer = await reach(parts, asked);
    if ("problem" in answer || answer.status < 400)
      return { view, bytes: body.length, outcome: answer };
    const refusal = await readRefusal(answer);
    const error = classifyRefusal(refusal, turn);
    const outcome = { ...refusal, error };
    if (error.kind !== "overflow") return { view, bytes: body.length, outcome };
    notes = learnOverflow(memory.notesOf(turn.key), { error, view, window: turn.window });
    const smaller = viewOf(turn, notes);
    keep(parts, turn, notes, smaller);
    if (tries > 1 || smaller.overflow !== undefined) return { view, bytes: body.length, outcome };
    view = smaller;
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

/** The model's own name, where the client has another one for it. */
function withModel({ call, upstream }: DoorTurn, text: string): string {
  const { id } = upstream.resolved.model;
  if (typeof call.body.model !== "string" || call.body.model === id) return text;
  const values = [{ path: ["model"], value: id }];
  return editBody(text, { values, list: call.wire.list, messages: new Map() });
}

function passRefusal({ status, headers, body }: Refusal, outlet: DoorOutlet, named: RawHeaders) {
  outlet.begin(status, [...headersBack(headers), ...named]);
  void outlet.write(body);
  outlet.end();
}

async function passReply(
  parts: TransparentParts,
  turn: DoorTurn,
  {
    answer,
    outlet,
    named,
    shown,
  }: { answer: UpstreamAnswer; outlet: DoorOutlet; named: RawHeaders; shown: Shown },
): Promise<void> {
  const { resolved } = turn.upstream;
  const tell = parts.recorder.follow(turn);
  const peek = peekReply({
    api: turn.call.wire.api,
    ...{ resolved, headers: answer.headers },
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
  const end = await relay(answer, outlet, {
    more: named,
    async peek(piece) {
      const reply = await peek.push(piece);
      if (reply !== undefined) learn(reply);
    },
  });
  learn(await peek.end(end));
  if (end === "whole") outlet.end();
  else outlet.breakOff();
}

function endTurn(
  { memory, recorder }: TransparentParts,
  turn: DoorTurn,
  ended: PeekedReply | ModelError,
  shown?: Shown,
): void {
  const reply: PeekedReply =
    "message" in ended && typeof ended.message === "object"
      ? (ended as PeekedReply)
      : { message: NOTHING, error: ended as ModelError };
  const { resolved } = turn.upstream;
  const message = withCost(reply.message, {}, resolved.prices);
  const event = replyEventOf(turn, { ...reply, message }, endOf(turn.sketch));
  memory.learn(event);
  const { usage } = message;
  if (shown !== undefined && usage !== undefined && turn.match.kind === "turn") {
    const notes = memory.notesOf(turn.key);
    memory.note(turn.key, learnUsage(notes, shown.view, promptTokensOf(usage)));
  }
  recorder.reply(turn, {
    ...{ reply: { ...reply, message }, event, notes: memory.notesOf(turn.key) },
    ...(shown !== undefined && { view: shown.view }),
    durationMs: performance.now() - turn.began,
  });
}

const NOTHING = { role: "assistant", content: [], stopReason: "error" } as const satisfies {
  role: "assistant";
} & PeekedReply["message"];
