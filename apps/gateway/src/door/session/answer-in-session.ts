// Answers a request in a session whose history is Clew's own.
import type { TurnEvent } from "@clew/engine-core";
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { headerOf } from "../../passing/raw-headers.ts";
import { shortName } from "../../sessions/keys.ts";
import { newestPrompt } from "../../sessions/newest-prompt.ts";
import { EndedEarly, IS_STOPPING } from "../../stopping.ts";
import type { SaidAtTurn } from "../../waiting/send-request.ts";
import type { ClientAsk } from "../ask/client-ask.ts";
import { readAsk } from "../ask/read-ask.ts";
import { answerWith, type DoorCall, type DoorOutlet, SESSION_HEADER } from "../call/door-call.ts";
import { clientOf, failureOf, logDoorRequest } from "../call/log-request.ts";
import { type DoorParts, doorAgent } from "../call/parts.ts";
import type { DoorAnswer } from "../wires/door-wire.ts";
import { createAnswering } from "./answering.ts";
import { type Attendance, createAttendance } from "./attendance.ts";
import { createAudience } from "./audience.ts";
import { createNamedTurn, type NamedTurn, type NamedTurnParts } from "./named-turn.ts";
import { contentOf, type NewestTurn, newestTurn } from "./newest-turn.ts";
import { createOpenTurn, type OpenTurn } from "./open-turn.ts";
import { planBrought } from "./plan-brought.ts";
import { type AnswerFate, planRepeat, type RepeatPlan } from "./plan-repeat.ts";
import { noSuchReply, notTheNewest, type PlannedSession, planSession } from "./plan-session.ts";
import { replyId } from "./reply-id.ts";
import { createTurnClock } from "./turn-clock.ts";
import { isUnexpected, thrownAnswer } from "./turn-errors.ts";
import { planUnknownResult } from "./unknown-result.ts";

export type SessionParts = Pick<DoorParts, "host" | "log" | "sessions" | "now" | "newId"> &
  NamedTurnParts;

export interface SessionAnswers {
  /** Canonical; undefined: the request names nothing that there can be. */
  keyOf(call: DoorCall): string | undefined;
  /** Answers a request; those of one turn follow each other. */
  answer(call: DoorCall, outlet: DoorOutlet): Promise<void>;
  /** Its client goes on without naming the session: a turn that waits for its results ends. */
  goOnWithout(key: string): void;
  /** The gateway stops: all turns end, and their clients are told. */
  endAll(): void;
}

/** A turn under way, its newest request, and the way to end it. */
interface Running {
  asked: NewestTurn;
  turn: OpenTurn;
  named: NamedTurn;
  attendance: Attendance;
  /** Whoever waited has left, and may be back. */
  readonly isLeft: boolean;
  /** It will have no answer. */
  readonly isAborted: boolean;
  abort(why: string): void;
}

/** What is known of the turns of all sessions, by canonical key. */
interface Turns {
  /** In the order in which they were asked for. */
  running: Map<string, Running[]>;
  /** Those that wait for a client's results; a session has one turn at a time. */
  waiting: Map<string, Running>;
  /** The newest turn of each session, how many answers it gave, and what became of the last. */
  fates: Map<string, { entryId: string; answers: number; fate: AnswerFate | undefined }>;
}

export function createSessionAnswers(parts: SessionParts): SessionAnswers {
  const { config } = parts.host;
  const { door } = config;
  const names = {
    ...{ agentId: doorAgent(config), agents: config.agents.list.map(({ id }) => id) },
    ...{ unnamed: door.session.name, newId: parts.newId },
  };
  const turns: Turns = { running: new Map(), waiting: new Map(), fates: new Map() };
  const answer: SessionAnswers["answer"] = async (call, outlet) => {
    const planned = planSession(call, names);
    if ("refused" in planned) return refuse(parts, { call, outlet }, planned.refused);
    const newest = newestTurn(call.wire, call.request);
    if (newest.results.length === 0 && newest.said.length === 0)
      return refuse(parts, { call, outlet }, call.wire.error(400, NOTHING_NEW), planned.key);
    const ask = withSystem(readAsk(call.wire.api, call.body, call.request), newest);
    const request = { call, outlet, planned, newest, ask };
    const repeated = () => repeatedIn(turns, request, []);
    const refused =
      repeated().kind === "join"
        ? undefined
        : ((await refusedPlace(parts, turns, request)) ??
          (await refusedResult(parts, turns, request)));
    if (refused !== undefined) return refuse(parts, { call, outlet }, refused, planned.key);
    const begun = turns.waiting.get(planned.key);
    if (begun?.turn.waitsFor(newest)) return goOn(parts, turns, begun, request);
    const plan = repeated();
    const running = turns.running.get(planned.key) ?? [];
    if (plan.kind === "join") return void (await attend(parts, running[plan.at]!, request));
    begun?.abort("The client went on without the results of its tools.");
    for (const one of running) if (one.isLeft) one.abort("The client went on without the answer.");
    return runTurn(parts, turns, request);
  };
  return {
    answer,
    keyOf(call) {
      const planned = planSession(call, names);
      return "refused" in planned ? undefined : planned.key;
    },
    goOnWithout(key) {
      const waiting = turns.waiting.get(key);
      waiting?.named.left();
      waiting?.abort("The client went on without naming the session.");
    },
    endAll() {
      for (const running of turns.running.values())
        for (const one of running) one.abort(IS_STOPPING);
    },
  };
}

/** `key`: of its session, as far as it names one. */
function refuse(
  { log }: SessionParts,
  { call, outlet }: Pick<Request, "call" | "outlet">,
  answer: DoorAnswer,
  key: string | null = null,
): void {
  const { status, reason } = answer;
  answerWith(outlet, answer);
  logDoorRequest(log, {
    ...{ sessionKey: key, client: clientOf(call), wire: call.wire.api, kind: "session" },
    ...{ model: call.request.model, outcome: "refused", why: { status, reason } },
  });
}

const NOTHING_NEW =
  "There is nothing new in this request: behind the newest reply it has neither a message of a person nor a result of a tool.";

/** How long a client that asks again by itself is waited for, ms: they do within one second. */
const BACK_MS = 2000;

interface Request {
  call: DoorCall;
  outlet: DoorOutlet;
  planned: PlannedSession;
  newest: NewestTurn;
  ask: ClientAsk;
}

async function runTurn(parts: SessionParts, turns: Turns, request: Request): Promise<void> {
  const { door, agents } = parts.host.config;
  const { call, ask, newest } = request;
  const { key } = request.planned;
  const controller = new AbortController();
  const abort = (why: string | EndedEarly) => {
    // Its call was heard, and nobody brings the result.
    if (turns.waiting.get(key) === running && fateOf(turns, key, turn.entryId) !== "left")
      noteFate(turns, key, turn.entryId, "ended");
    controller.abort(typeof why === "string" ? new EndedEarly(why) : why);
  };
  const clock = createTurnClock({
    turnMs: agents.defaults.timeoutSeconds * 1000,
    waitMs: door.session.toolWaitSeconds * 1000,
    onOver: abort,
  });
  const attendance = createAttendance({
    ...{ abort, backMs: BACK_MS },
    note: (heard) => noteFate(turns, key, turn.entryId, FATES[heard]),
  });
  const turn = createOpenTurn({
    ...{ ask, audience: createAudience(), attended: attendance.attended },
    ownTools: door.session.agentTools ? "all" : door.recallTools ? "recall" : "none",
    onWaiting(waits) {
      clock.turnTo(waits ? "waiting" : "running");
      if (waits) named.answered();
      if (waits) turns.waiting.set(key, running);
      else if (turns.waiting.get(key) === running) turns.waiting.delete(key);
    },
  });
  const named = createNamedTurn(parts, { key, call, isClients: turn.isClients });
  const running: Running = {
    ...{ asked: newest, turn, named, attendance, abort },
    get isLeft() {
      return attendance.isLeft;
    },
    get isAborted() {
      return controller.signal.aborted;
    },
  };
  const onEvent = (event: TurnEvent) => {
    if (event.type === "accepted") {
      clock.turnTo("running");
      turn.entryId = event.entryId;
      beginFate(turns, key, event.entryId);
      turn.audience.begin(idOf(turn, key));
      named.asked(call, event.entryId);
    }
    named.heard(event);
    if (event.type === "message" && event.message.role === "assistant")
      turn.hasCalled(event.message.content.filter((block) => block.type === "toolCall"));
    turn.audience.tell(event);
  };
  const { signal } = controller;
  const isWatched = call.request.streaming;
  let told: Extract<RepeatPlan, { kind: "told" }> | undefined;
  let refused: DoorAnswer | undefined;
  const atItsTurn = (branch: readonly TranscriptEntry[]): SaidAtTurn => {
    const plan = repeatedIn({ ...turns, running: new Map() }, request, branch);
    const prompt = newestPrompt(branch);
    // Another request went on from the same reply while this one waited.
    if (plan.kind === "new" && prompt !== undefined && isPassed(turns, request, prompt.id)) {
      refused = notTheNewest(previousOf(request));
      return { entryId: prompt.id };
    }
    switch (plan.kind) {
      case "told":
        told = plan;
        return { entryId: plan.entryId };
      case "instead":
        return { content, keep: plan.keep };
      case "on":
        return { content: ASKED_AGAIN, keep: plan.keep };
      default:
        return planBrought(branch, newest) ?? { content };
    }
  };
  const content = contentOf(newest);
  const client = turn.client;
  turns.running.set(key, [...(turns.running.get(key) ?? []), running]);
  const attending = attend(parts, running, request);
  parts.sessions
    .send({ key, content, signal, onEvent, client, isWatched, atItsTurn, afterTurn: named.over })
    .then((result) => {
      const isStopped = result.outcome === "aborted" && !signal.aborted;
      if (isStopped) noteFate(turns, key, turn.entryId, "ended");
      if (result.outcome !== "known") turn.audience.finish(result);
      else if (refused !== undefined) turn.audience.fail(refused, "invalid_request");
      else if (told !== undefined) tellAgain(turns, turn, key, told);
    })
    .catch((error: unknown) => {
      if (isUnexpected(error))
        parts.log.error(`turn in ${key} failed: ${(error as Error).message}`);
      turn.audience.fail(thrownAnswer(call.wire, error), failureOf(error));
    })
    .finally(() => {
      clock.stop();
      attendance.stop();
      const others = (turns.running.get(key) ?? []).filter((other) => other !== running);
      if (others.length === 0) turns.running.delete(key);
      else turns.running.set(key, others);
    });
  const isHeard = await attending;
  if (isHeard && told !== undefined) noteFate(turns, key, told.entryId, "told");
}

/** What a turn begins with whose results stand there already. */
const ASKED_AGAIN =
  "[The client asks again for the answer to this, as it went away before it had it.]";

const FATES = { left: "left", again: "told", heard: undefined } as const;

const MOST_FATES = 10_000;

/** The one that began longest ago is forgotten first. */
function beginFate({ fates }: Turns, key: string, entryId: string) {
  fates.delete(key);
  fates.set(key, { entryId, answers: 0, fate: undefined });
  if (fates.size > MOST_FATES) fates.delete(fates.keys().next().value!);
}

/** What is found out of a turn that is not the newest any more changes nothing. */
function noteFate({ fates }: Turns, key: string, entryId: string, fate: AnswerFate | undefined) {
  const noted = notedOf(fates, key, entryId);
  if (noted !== undefined) noted.fate = fate;
}

const fateOf = ({ fates }: Pick<Turns, "fates">, key: string, entryId: string) =>
  notedOf(fates, key, entryId)?.fate;

function notedOf(fates: Turns["fates"], key: string, entryId: string) {
  const noted = fates.get(key);
  return noted?.entryId === entryId ? noted : undefined;
}

/** `newest`: the message that began the newest turn. True: its reply is not the newest any more. */
function isPassed({ fates }: Turns, { planned }: Pick<Request, "planned">, newest: string) {
  const { key, after } = planned;
  if (after === undefined) return false;
  const answers = notedOf(fates, key, newest)?.answers ?? after.answer;
  return after.entryId !== newest || after.answer !== answers;
}

const previousOf = ({ call }: Request) => String(call.body.previous_response_id);

function repeatedIn(
  { running, fates }: Pick<Turns, "running" | "fates">,
  { planned: { key }, call, newest }: Pick<Request, "planned" | "call" | "newest">,
  branch: readonly TranscriptEntry[],
): RepeatPlan {
  return planRepeat({
    ...{ asked: newest, isRetry: (retriesOf(call) ?? 0) > 0, branch },
    running: (running.get(key) ?? []).map((turn) => (turn.isAborted ? OVER : turn)),
    fateOf: (entryId) => fateOf({ fates }, key, entryId),
  });
}

/** What nobody says again. */
const OVER = { asked: { results: [], said: [] }, isLeft: false };

/** How often this client has sent it before. Undefined: it does not say, and may never. */
function retriesOf({ headers }: DoorCall): number | undefined {
  const told = headerOf(headers, "x-stainless-retry-count");
  return told === undefined ? undefined : Number(told);
}

/** What was answered already, as if it were said now. */
function tellAgain(
  { fates }: Turns,
  turn: OpenTurn,
  key: string,
  told: { entryId: string; replies: readonly AssistantMessage[] },
) {
  const { entryId, replies } = told;
  turn.entryId = entryId;
  turn.audience.begin(
    replyId({ key, entryId, answer: notedOf(fates, key, entryId)?.answers ?? 0 }),
  );
  for (const message of replies) turn.audience.tell({ type: "message", entryId, message });
  turn.audience.finish({ error: null, reply: replies.at(-1) ?? null });
}

async function goOn(
  parts: SessionParts,
  { fates }: Turns,
  running: Running,
  request: Request,
): Promise<void> {
  const { turn } = running;
  running.named.asked(request.call);
  turn.answers++;
  const noted = notedOf(fates, request.planned.key, turn.entryId);
  if (noted !== undefined) noted.answers = turn.answers;
  turn.audience = createAudience();
  running.attendance.goOn();
  running.asked = request.newest;
  const attending = attend(parts, running, request);
  turn.audience.begin(idOf(turn, request.planned.key));
  turn.goOn(request.newest, request.ask);
  await attending;
}

const idOf = ({ entryId, answers }: OpenTurn, key: string) =>
  replyId({ key, entryId, answer: answers });

/**
 * Tells a request what its turn says; resolves when nothing more is written to it. True: it was
 * all written, and as far as is known it was heard.
 */
async function attend(
  { now, log }: SessionParts,
  { turn, attendance }: Running,
  { call, outlet, planned }: Request,
): Promise<boolean> {
  const since = performance.now();
  const answering = createAnswering({
    ...{ call, outlet, now, isClients: turn.isClients },
    headers: [[SESSION_HEADER, encodeURI(shortName(planned.key))]],
  });
  attendance.add(answering, outlet.lost, retriesOf(call) !== undefined);
  turn.audience.join(answering);
  await answering.ended;
  logDoorRequest(log, {
    ...{ sessionKey: planned.key, client: clientOf(call), wire: call.wire.api, kind: "session" },
    ...{ model: call.request.model, ...answering.told, durationMs: performance.now() - since },
  });
  return !outlet.lost.aborted;
}

/** Undefined: the request goes on from where its session is. */
async function refusedPlace({ sessions }: SessionParts, turns: Turns, request: Request) {
  const { key, after } = request.planned;
  if (after === undefined) return undefined;
  const id = previousOf(request);
  const begun = turns.waiting.get(key)?.turn;
  if (begun?.entryId === after.entryId)
    return begun.answers === after.answer ? undefined : notTheNewest(id);
  const place = await sessions.placeOf(key, after.entryId);
  if (place === "nowhere") return noSuchReply(id);
  if (place === "newest" && !isPassed(turns, request, after.entryId)) return undefined;
  const repeated = repeatedIn(turns, request, await sessions.branch(key));
  return repeated.kind === "new" ? notTheNewest(id) : undefined;
}

/** Undefined: it brings no results, or of calls that were made. */
async function refusedResult({ sessions }: SessionParts, turns: Turns, request: Request) {
  const { call, planned, newest } = request;
  const { results } = newest;
  const isAwaited = turns.waiting.get(planned.key)?.turn.waitsFor(newest) === true;
  if (results.length === 0 || isAwaited) return undefined;
  const branch = await sessions.branch(planned.key);
  return planUnknownResult(call.wire, results, { request: call.request, branch });
}

/** Instructions that came between the messages follow the others. */
const withSystem = (ask: ClientAsk, { system }: NewestTurn): ClientAsk => ({
  ...ask,
  system: [ask.system, system].filter(Boolean).join("\n\n"),
});
