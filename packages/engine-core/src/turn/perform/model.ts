// Makes one model call and describes what was sent, item by item.
import type { AgentMessage, AssistantMessage, Usage } from "@clew/plugin-sdk/core";
import {
  type CallAsk,
  type ContextSize,
  type ModelCall,
  type ModelError,
  type PolicyChange,
  type ProviderTold,
  pause,
  type StreamEvent,
} from "@clew/plugin-sdk/host";
import { FALLBACK_ENGINE_ID } from "../../engine/registration.ts";
import { refusedParts, remediedAsk, remediedModel } from "../../recovery/remedy.ts";
import type { ReportItem } from "../../report/item.ts";
import type { ModelCallReport } from "../../report/model-call.ts";
import {
  advanceRequest,
  emptyRequestMemory,
  type RequestDescription,
} from "../../request/request-items.ts";
import { measure, measureTaken } from "../../request/request-size.ts";
import { itemFinder } from "../../request/resolve-view.ts";
import { stableMessages } from "../../request/stable-messages.ts";
import {
  MADE_BY_POLICY,
  messagesOf,
  type ViewItem,
  type Why,
  whyOf,
} from "../../request/view-item.ts";
import { tellWithheld, whyDropped, withheldBetween } from "../../request/withheld.ts";
import type { Ask } from "../effects.ts";
import type { Answer } from "../facts.ts";
import type { SentCall } from "../turn-request.ts";
import { cacheReport, keepForReturn, planCache, previousResponse, sentRequest } from "./cache.ts";
import type { World } from "./world.ts";

type CallModel = Extract<Ask, { do: "call-model" }>;
type Answered = Extract<Answer, { type: "answered" }>;
type Outcome = Answered["outcome"];

export async function callModel(world: World, asked: CallModel): Promise<Answered> {
  const { ports, state, signal } = world;
  keepForReturn(world);
  const leafId = state.branch.at(-1)?.id ?? null;
  const { described, wanted, messages, policyChanges } = await prepareRequest(world, asked);
  const { requestHash, parts } = described;
  const at = () => ports.clock.now();
  if (requestHash === asked.refused?.hash) {
    const outcome = sameAgain(asked.refused.error);
    return {
      type: "answered",
      ...{ ms: 0, call: null, parts: {}, requestHash, at: at(), shown: false, outcome },
    };
  }

  const cache = planCache(world, described, remediedAsk(world.setup.ask, asked.remedies));
  tellCall(world, { asked, described, policyChanges });
  const begun = {
    ...listed(described),
    leafId,
    ...(asked.size !== null && { size: reported(asked.size) }),
    index: state.modelCalls,
    policyChanges: [...policyChanges],
    ...withheldIn(world, asked.items, state.request.items, { messages, changes: policyChanges }),
    model: modelName(world.setup.model),
    ...chosenBy(world),
  };
  world.calling = { call: { ...begun, ...NOT_ANSWERED }, parts };
  const started = ports.clock.monotonic();
  let retries = 0;
  const resent: Usage[] = [];
  const answered = await stream(world, asked, messages, ({ error, delayMs, estimated }) => {
    retries++;
    if (estimated !== undefined) resent.push(estimated);
    const text = `${error.message} Trying again in ${Math.ceil(delayMs / 1000)} s.`;
    world.request.onEvent?.({ type: "notice", text });
    return undefined;
  }).catch((error: unknown) => {
    forgetRequest(world);
    throw error;
  });
  const { outcome, shown, told } = answered;
  const leftOut = [...world.setup.leftOut, ...answered.leftOut];
  tellLeftOut(world, leftOut);
  const ms = ports.clock.monotonic() - started;
  const report = outcome.ok ? cacheReport(cache.expected, outcome.message.usage, told) : undefined;
  if (outcome.ok) {
    if (report !== undefined) state.cache = { report, previousRead: state.lastUsage?.cacheRead };
    state.sent = sentRequest(cache, outcome.message, at());
    state.lastUsage = outcome.message.usage ?? state.lastUsage;
    state.measurement = measure(wanted, outcome.message.usage);
  } else if (outcome.error.kind === "overflow")
    state.measurement = measureTaken(wanted, outcome.partial.usage) ?? state.measurement;
  state.modelCalls++;
  const call = {
    ...begun,
    ...ended(outcome),
    retries,
    ...(resent.length > 0 && { resent }),
    durationMs: ms,
    ...(report !== undefined && { cache: report }),
    ...(answered.estimated !== undefined && { estimated: answered.estimated }),
    ...(told.changes !== undefined && { providerChanges: told.changes }),
    ...(leftOut.length > 0 && { leftOut }),
    ...(asked.remedies.length > 0 && {
      remedies: [...new Set(asked.remedies.map(({ kind }) => kind))],
    }),
  };
  tellEnd(world, call);
  return {
    type: "answered",
    ms,
    call,
    parts,
    requestHash,
    at: at(),
    shown,
    outcome: signal.aborted && !outcome.ok ? { ...outcome, error: CANCELLED } : outcome,
  };
}

/** No report tells of it: the next one must not be told as a difference to it. */
function forgetRequest({ state }: World): void {
  state.request = emptyRequestMemory();
  state.withheld.told.clear();
}

/** Before the model is asked, so that a person sees the request while it is answered. */
function tellCall(
  world: World,
  {
    asked: { size },
    described: { system, tools, requestHash, shared },
    policyChanges,
  }: {
    asked: CallModel;
    described: RequestDescription;
    policyChanges: readonly PolicyChange[];
  },
): void {
  const { request, state, setup } = world;
  const call: SentCall = {
    ...{ turnId: setup.turnId, index: state.modelCalls, model: modelName(setup.model) },
    ...{ system, tools, requestHash, kept: shared.messages, budget: setup.budget },
    messages: state.request.items.slice(),
    policyChanges: [...policyChanges],
    ...chosenBy(world),
    ...(size !== null && { size: reported(size) }),
  };
  request.onEvent?.({ type: "call", call });
}

/** The fallback once the engine of the turn is aside. */
const chosenBy = ({ engine, setup }: World): Pick<ModelCallReport, "engine"> =>
  engine.degraded === null || setup.engine.id === FALLBACK_ENGINE_ID
    ? {}
    : { engine: FALLBACK_ENGINE_ID };

function tellEnd({ request }: World, call: ModelCallReport): void {
  const { system, tools, messages, policyChanges, size, ...ended } = call;
  request.onEvent?.({ type: "call_end", call: ended });
}

/** The messages as the provider wants them, and the list of what they are; in two steps. */
export async function prepareRequest(
  { ports, state, setup }: Pick<World, "ports" | "state" | "setup">,
  { items, system, tools, remedies }: Pick<CallModel, "items" | "system" | "tools" | "remedies">,
) {
  const wanted = messagesOf(items);
  const prepared = ports.policy?.prepareOutbound({
    messages: wanted,
    model: remediedModel(setup.model, remedies),
    refused: refusedParts(remedies),
  });
  const messages = prepared?.messages ?? wanted;
  await pause();
  const described = advanceRequest({
    model: modelName(setup.model),
    system,
    tools,
    messages,
    whyOf: whyIn(items),
    hash: (text) => ports.ids.hash(text),
    prefixOf: state.prefixOf,
    memory: state.request,
  });
  return { wanted, messages, described, policyChanges: prepared?.changes ?? [] };
}

/** What no report has told of; the policy's last look at a request may take more. */
export function withheldIn(
  { state }: Pick<World, "state">,
  items: readonly ViewItem[],
  listed: readonly ReportItem[],
  { messages, changes }: { messages: readonly AgentMessage[]; changes: readonly PolicyChange[] },
): Pick<ModelCallReport, "withheld"> {
  const dropped =
    messages === messagesOf(items)
      ? []
      : withheldBetween(items, messages, { by: "policy", why: whyDropped(changes) });
  const sent = new Set(
    listed.flatMap(({ source }) => (source.kind === "entry" ? [source.entryId] : [])),
  );
  const withheld = tellWithheld(state.withheld, sent, dropped);
  return withheld.length === 0 ? {} : { withheld };
}

/** The reason of the item a message is, or is made from. */
export function whyIn(items: readonly ViewItem[]): (message: AgentMessage, index: number) => Why {
  const find = itemFinder(items);
  return (message, index) => {
    if (items[index]?.message === message) return items[index]!.why;
    const item = find(message);
    return item === undefined ? MADE_BY_POLICY : whyOf(item, message);
  };
}

export const modelName = ({ provider, id }: { provider: string; id: string }) =>
  `${provider}/${id}`;

const CANCELLED: ModelError = { kind: "aborted", message: "The run was cancelled." };

function unanswered(error: ModelError): Outcome {
  const partial: AssistantMessage = {
    role: "assistant",
    content: [],
    stopReason: "error",
    errorMessage: error.message,
  };
  return { ok: false, error, partial };
}

/** The provider has refused exactly this request: sending it again would only cost. */
const sameAgain = (error: ModelError): Outcome =>
  unanswered(
    error.kind === "overflow"
      ? {
          kind: "overflow",
          message:
            "The request is the one the provider already refused as too large; it was not sent again.",
        }
      : error,
  );

interface Streamed {
  outcome: Outcome;
  shown: boolean;
  told: ProviderTold;
  /** What the call asked and the request did not. */
  leftOut: readonly string[];
  /** Of a call whose provider did not say what it counted. */
  estimated?: Usage;
}

const NOTHING_TOLD = { told: {}, leftOut: [] };

/** Once, until it is something else. */
function tellLeftOut({ ports, state, setup }: World, leftOut: readonly string[]): void {
  const text = leftOut.length === 0 ? "" : `${modelName(setup.model)}: ${leftOut.join("; ")}`;
  if (text !== state.leftOut && text !== "") ports.log.info(`not sent to ${text}`);
  state.leftOut = text;
}

async function stream(
  world: World,
  { items, system, tools, remedies }: CallModel,
  messages: readonly AgentMessage[],
  onRetry: NonNullable<ModelCall["onRetry"]>,
): Promise<Streamed> {
  const { ports, setup, signal, request } = world;
  let shown = false;
  const call: ModelCall = {
    ...askWithPlaces(remediedAsk(setup.ask, remedies), stableMessages(items, messages)),
    model: remediedModel(setup.model, remedies),
    systemPrompt: system.map((part) => part.text).join("\n\n"),
    messages,
    tools,
    signal,
    sessionId: world.transcript.session.sessionId,
    ...previousResponse(world),
    onRetry,
  };
  for await (const event of ports.model.stream(call)) {
    if (event.type === "done")
      return {
        outcome: { ok: true, message: stamped(world, event.message) },
        shown,
        told: event.told ?? {},
        leftOut: event.leftOut ?? [],
        ...(event.estimated !== undefined && { estimated: event.estimated }),
      };
    if (event.type === "error")
      return {
        outcome: { ok: false, error: event.error, partial: event.partial },
        shown,
        ...NOTHING_TOLD,
        ...(event.estimated !== undefined && { estimated: event.estimated }),
      };
    if (event.type === "tool_call") continue;
    shown ||= world.isWatched;
    request.onEvent?.(event satisfies StreamEvent);
  }
  const message = "The model's stream ended without a final event.";
  return { outcome: unanswered({ kind: "invalid_response", message }), shown, ...NOTHING_TOLD };
}

/** The driver's default where the host asks for nothing of the cache. */
const askWithPlaces = (ask: CallAsk, stable: number): CallAsk =>
  stable === 0
    ? ask
    : { ...ask, cache: { retention: ask.cache?.retention ?? "short", stableMessages: stable } };

/** Every stored reply says when it was made and in which run, so that engines can recognise it. */
function stamped({ ports, setup }: World, message: AssistantMessage): AssistantMessage {
  return {
    timestamp: ports.clock.now(),
    ...message,
    __openclaw: { runId: setup.turnId, ...message.__openclaw },
  };
}

const failureOf = (error: ModelError): NonNullable<ModelCallReport["failure"]> => ({
  kind: error.kind,
  ...(error.unsent && { unsent: true }),
  ...((error.kind === "auth" || error.kind === "not_found") &&
    error.status !== undefined && { status: error.status }),
  ...(error.kind === "rate_limited" &&
    error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
  ...(error.kind === "overflow" &&
    error.promptTokens !== undefined && { promptTokens: error.promptTokens }),
});

const listed = ({ system, tools, messages, requestHash }: RequestDescription) => ({
  system,
  tools,
  messages,
  requestHash,
});

const reported = ({ tokens, source, water }: ContextSize) => ({ tokens, source, water });

const NOT_ANSWERED = {
  ...{ usage: null, stopReason: null, error: null },
  ...{ retries: 0, durationMs: 0 },
};

const ended = (outcome: Outcome) =>
  outcome.ok
    ? {
        usage: outcome.message.usage ?? null,
        stopReason: outcome.message.stopReason as string | null,
        error: null,
      }
    : {
        usage: outcome.partial.usage ?? null,
        stopReason: null,
        error: outcome.error.message,
        failure: failureOf(outcome.error),
        ...(outcome.error.kind === "overflow" &&
          outcome.error.windowTokens !== undefined && {
            windowTokens: outcome.error.windowTokens,
          }),
      };
