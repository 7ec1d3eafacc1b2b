// Finds out whose a client's request is, and what of it goes to the model.
import { randomUUID } from "node:crypto";
import { inSlices, type Steps, stepsInSlices, type ToolDefinition } from "@clew/plugin-sdk/host";
import { agentOf, type ClientSigns, newDoorKey } from "../../listing/client-names.ts";
import { toJson } from "../../own-json.ts";
import { headersByName } from "../../passing/raw-headers.ts";
import type { DoorCall } from "../call/door-call.ts";
import { type DoorParts, doorAgent } from "../call/parts.ts";
import { sketchAsGiven, sketchAsGivenSteps } from "../match/as-given.ts";
import { clientKeyOf } from "../match/client-key.ts";
import type { KnownRequests, RequestEvent } from "../match/known-requests.ts";
import { requestBehind } from "../match/part-request.ts";
import { type IngestPlan, planIngest, requestEvent } from "../match/plan-ingest.ts";
import { type Match, planMatch } from "../match/plan-match.ts";
import type { RequestSketch } from "../match/sketch.ts";
import type { DoorMemory } from "../memory/door-memory.ts";
import type { SessionNotes } from "../memory/journal-lines.ts";
import type { Upstream } from "../upstream/find-upstream.ts";
import { type MadeView, type ViewRequest, viewSteps } from "../view/make-view.ts";
import { tokensOfMessage } from "../view/weigh.ts";
import { OFFERED_TOOLS } from "../wires/offered-tools.ts";

/** One request of a client, and its place in a session. */
export interface DoorTurn {
  /** As its report has it. */
  turnId: string;
  /** Canonical key of the session. */
  key: string;
  isNew: boolean;
  call: DoorCall;
  upstream: Upstream;
  /** Aborted when nobody is to hear the end: whoever asked has gone, or it is ended here. */
  gone: AbortSignal;
  /**
   * Aborted when whoever asked has gone; also after the end, where another gateway passed the
   * answer on, and was gone before its client had all of it.
   */
  left: AbortSignal;
  sketch: RequestSketch;
  match: Match;
  plan: IngestPlan;
  event: RequestEvent;
  /** Of the model that is asked, as far as it is known. */
  window: number;
  startedAt: Date;
  /** ms of a clock that only goes forward. */
  began: number;
}

/** A request whose place is found, and which is not taken in yet. */
export type MetTurn = Omit<DoorTurn, "gone" | "left">;

/** Looks at each message, in slices: what `meetTurn` then does at once is known by then. */
export async function lookThrough(
  { memory }: { memory: DoorMemory },
  { wire, request, headers, body }: DoorCall,
): Promise<void> {
  const client = clientKeyOf(headersByName(headers), body);
  await stepsInSlices(sketchAsGivenSteps(memory.known, wire, request, client));
  await inSlices(request.messages, tokensOfMessage);
}

/** Finds its place, and changes nothing. */
export function meetTurn(
  { host, memory }: Pick<DoorParts, "host"> & { memory: DoorMemory },
  { call, upstream }: Pick<DoorTurn, "call" | "upstream">,
): MetTurn {
  const { known } = memory;
  const client = clientKeyOf(headersByName(call.headers), call.body);
  const sent = sketchAsGiven(known, call.wire, call.request, client);
  const behind = requestBehind(known, sent);
  const { sketch, match, plan } = behind ?? planWhole(known, sent);
  const key =
    match.session ??
    newDoorKey(doorAgent(host.config), agentOf(signsOf(call, match)), call.wire.api);
  const event = behind?.event ?? requestEvent(known, key, { match, plan, request: sketch });
  return {
    turnId: randomUUID(),
    ...{ key, isNew: match.session === null, call, upstream, sketch, match, plan, event },
    window: upstream.settings.contextWindow ?? upstream.resolved.model.contextWindow,
    startedAt: new Date(),
    began: performance.now(),
  };
}

function planWhole(known: KnownRequests, sketch: RequestSketch) {
  const match = planMatch(known, sketch);
  return { sketch, match, plan: planIngest(known, match, sketch) };
}

/**
 * Takes the request in: from here on it is known, and whoever does so has it stored, whatever
 * becomes of it.
 */
export function takeIn({ memory }: { memory: DoorMemory }, { event, gone, left }: DoorTurn): void {
  memory.learn(event);
  // Who asks the same again at once is not taken for somebody else.
  const giveUp = () => memory.known.giveUp(event);
  for (const signal of [gone, left])
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
}

/**
 * `ours`: tools that look into the session. They are offered to models that have tools, from when
 * something of the session was set aside: until then there is nothing to be looked up.
 */
export async function viewOf(
  turn: DoorTurn,
  notes: SessionNotes,
  ours: readonly ToolDefinition[],
): Promise<MadeView> {
  const { call, match } = turn;
  const input = viewInput(turn, notes);
  const isTaken = ours.some(({ name }) => call.request.tools.includes(name));
  const tools =
    match.kind !== "turn" || ours.length === 0 || isTaken
      ? undefined
      : OFFERED_TOOLS[call.wire.api].offer(call.body.tools, ours);
  return stepsInSlices(viewStepsOffering(input, { tools, notes }));
}

function* viewStepsOffering(
  input: ViewRequest,
  { tools, notes }: { tools: readonly unknown[] | undefined; notes: SessionNotes },
): Steps<MadeView> {
  if (tools === undefined) return yield* viewSteps(input);
  const isCut = Object.keys(notes.marks).length > 0;
  const plain = isCut ? undefined : yield* viewSteps(input);
  if (plain !== undefined && (plain.overflow !== undefined || plain.plan.setAside === 0))
    return plain;
  const offering = yield* viewSteps({ ...input, tools });
  return offering.overflow === undefined ? offering : (plain ?? (yield* viewSteps(input)));
}

function viewInput({ call, upstream, sketch, window }: DoorTurn, notes: SessionNotes): ViewRequest {
  const { model } = upstream.resolved;
  return {
    ...{ wire: call.wire, outline: call.outline, body: call.body, request: call.request },
    model: model.id,
    messages: sketch.messages,
    window: Math.min(window, notes.window ?? window),
    marks: notes.marks,
    bindsThinking: model.profile?.reasoning.boundToPrefix === true,
    scale: notes.scale,
  };
}

/** An agent says who it is at the beginning. */
const BEGINNING = 600;

const signsOf = ({ headers, wire, request }: DoorCall, { key, family }: Match): ClientSigns => ({
  headers: headersByName(headers),
  key: key ?? family,
  prompts: [
    toJson(request.system),
    ...request.messages.slice(0, request.leading).map((message) => wire.look(message).text),
  ].map((text) => text.slice(0, BEGINNING)),
});
