// Answers a request in a session whose history is Clew's own.
import type { TurnEvent } from "@clew/engine-core";
import type { ToolCallBlock, UserBlock } from "@clew/plugin-sdk/core";
import { shortName } from "../../sessions/keys.ts";
import type { ClientAsk } from "../ask/client-ask.ts";
import { readAsk } from "../ask/read-ask.ts";
import { answerWith, type DoorCall, type DoorOutlet, SESSION_HEADER } from "../call/door-call.ts";
import { type DoorParts, doorAgent } from "../call/parts.ts";
import { type Answering, createAnswering } from "./answering.ts";
import { type NewestTurn, newestTurn, resultsInWords } from "./newest-turn.ts";
import { createOpenTurn, type OpenTurn } from "./open-turn.ts";
import { noSuchReply, notTheNewest, type PlannedSession, planSession } from "./plan-session.ts";
import { replyId } from "./reply-id.ts";
import { createTurnClock } from "./turn-clock.ts";
import { isUnexpected, thrownAnswer } from "./turn-errors.ts";

export type SessionParts = Pick<DoorParts, "host" | "log" | "sessions" | "now" | "newId">;

/** Answers requests; those of one turn follow each other. */
export type AnswerInSession = (call: DoorCall, outlet: DoorOutlet) => Promise<void>;

/** A turn under way, and the way to end it. */
interface Running {
  turn: OpenTurn;
  abort(why: string): void;
}

export function createSessionAnswers(parts: SessionParts): AnswerInSession {
  const { config } = parts.host;
  const { door } = config;
  const names = {
    ...{ agentId: doorAgent(config), agents: config.agents.list.map(({ id }) => id) },
    ...{ unnamed: door.session.name, newId: parts.newId },
  };
  /** By session, those that wait for a client's results; a session has one turn at a time. */
  const waiting = new Map<string, Running>();
  return async (call, outlet) => {
    const planned = planSession(call, names);
    if ("refused" in planned) return answerWith(outlet, planned.refused);
    const newest = newestTurn(call.wire, call.request);
    if (newest.results.length === 0 && newest.said.length === 0)
      return answerWith(outlet, call.wire.error(400, NOTHING_NEW));
    const refused = await refusedPlace(parts, planned, call, waiting);
    if (refused !== undefined) return answerWith(outlet, refused);
    const ask = withSystem(readAsk(call.wire.api, call.body, call.request), newest);
    const begun = waiting.get(planned.key);
    if (begun?.turn.waitsFor(newest))
      return goOn(parts, { begun, planned, call, outlet, newest, ask });
    begun?.abort("The client went on without the results of its tools.");
    const asked = { call, outlet, planned, ask };
    return runTurn(parts, { ...asked, content: contentOf(newest) }, (running, waits) => {
      if (waits) waiting.set(planned.key, running);
      else if (waiting.get(planned.key) === running) waiting.delete(planned.key);
    });
  };
}

const NOTHING_NEW =
  "There is nothing new in this request: behind the newest reply it has neither a message of a person nor a result of a tool.";

interface Asked {
  call: DoorCall;
  outlet: DoorOutlet;
  planned: PlannedSession;
  ask: ClientAsk;
}

async function runTurn(
  parts: SessionParts,
  { call, outlet, planned, ask, content }: Asked & { content: string | UserBlock[] },
  onWaiting: (running: Running, waits: boolean) => void,
): Promise<void> {
  const { door, agents } = parts.host.config;
  const { key } = planned;
  const controller = new AbortController();
  const abort = (why: string) => controller.abort(new DOMException(why, "AbortError"));
  const clock = createTurnClock({
    turnMs: agents.defaults.timeoutSeconds * 1000,
    waitMs: door.session.toolWaitSeconds * 1000,
    onOver: abort,
  });
  const isClients = ({ name }: ToolCallBlock) => ask.tools.some((tool) => tool.name === name);
  const answering = answeringOf(parts, { call, outlet, key, isClients, abort });
  const turn = createOpenTurn({
    ...{ ask, answering },
    ownTools: door.session.agentTools ? "all" : door.recallTools ? "recall" : "none",
    onWaiting(waits) {
      clock.turnTo(waits ? "waiting" : "running");
      onWaiting(running, waits);
    },
  });
  const running: Running = { turn, abort };
  const onEvent = (event: TurnEvent) => {
    if (event.type === "accepted") {
      clock.turnTo("running");
      turn.entryId = event.entryId;
      turn.answering.begin(idOf(turn, key));
    }
    if (event.type === "message" && event.message.role === "assistant")
      turn.hasCalled(event.message.content.filter((block) => block.type === "toolCall"));
    turn.answering.tell(event);
  };
  const { signal } = controller;
  const isWatched = call.request.streaming;
  parts.sessions
    .send({ key, content, signal, onEvent, client: turn.client, isWatched })
    .then(
      (result) => turn.answering.finish(result),
      (error: unknown) => {
        if (isUnexpected(error))
          parts.log.error(`turn in ${key} failed: ${(error as Error).message}`);
        turn.answering.fail(thrownAnswer(call.wire, error));
      },
    )
    .finally(clock.stop);
  await answering.ended;
}

async function goOn(
  parts: SessionParts,
  { begun, planned, call, outlet, newest, ask }: Asked & { begun: Running; newest: NewestTurn },
): Promise<void> {
  const { turn, abort } = begun;
  const { key } = planned;
  const isClients = turn.isClients;
  const answering = answeringOf(parts, { call, outlet, key, isClients, abort });
  turn.answers++;
  turn.answering = answering;
  answering.begin(idOf(turn, key));
  turn.goOn(newest, ask);
  await answering.ended;
}

const idOf = ({ entryId, answers }: OpenTurn, key: string) =>
  replyId({ key, entryId, answer: answers });

function answeringOf(
  { now }: SessionParts,
  {
    key,
    abort,
    ...asked
  }: Pick<Asked, "call" | "outlet"> & {
    key: string;
    isClients: (call: ToolCallBlock) => boolean;
    abort: (why: string) => void;
  },
): Answering {
  const answering = createAnswering({
    ...{ ...asked, now },
    headers: [[SESSION_HEADER, encodeURI(shortName(key))]],
    onStuck: () => abort("The client does not read what it is sent."),
  });
  const leave = () => {
    if (!answering.hasEnded) abort("The client went away.");
  };
  asked.outlet.gone.addEventListener("abort", leave, { once: true });
  return answering;
}

/** Undefined: the request goes on from where its session is. */
async function refusedPlace(
  { sessions }: SessionParts,
  { key, after }: PlannedSession,
  { body }: DoorCall,
  waiting: ReadonlyMap<string, Running>,
) {
  if (after === undefined) return undefined;
  const id = String(body.previous_response_id);
  const begun = waiting.get(key)?.turn;
  if (begun?.entryId === after.entryId)
    return begun.answers === after.answer ? undefined : notTheNewest(id);
  const place = await sessions.placeOf(key, after.entryId);
  if (place === "nowhere") return noSuchReply(id);
  return place === "newest" ? undefined : notTheNewest(id);
}

/** Instructions that came between the messages follow the others. */
const withSystem = (ask: ClientAsk, { system }: NewestTurn): ClientAsk => ({
  ...ask,
  system: [ask.system, system].filter(Boolean).join("\n\n"),
});

/** Results that nobody waits for are told in words: their turn was ended, or its gateway. */
function contentOf({ results, said }: NewestTurn): string | UserBlock[] {
  const blocks = [...resultsInWords(results), ...said];
  const [first] = blocks;
  return blocks.length === 1 && first?.type === "text" ? first.text : blocks;
}
