// Gathers what holds for a whole turn and the world its effects work on.

import { type ContextEngineError, messageId } from "@clew/plugin-sdk/core";
import { fixedTokensOf, planBudget, type ToolDefinition } from "@clew/plugin-sdk/host";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import type { GuardedEngine } from "../engine/guard.ts";
import { describeError } from "../engine/quarantine.ts";
import type { ExecutionPort } from "../execution-port.ts";
import { delegatedCompaction } from "./delegated-compaction.ts";
import { methodsOf } from "./engine-methods.ts";
import type { Occurrence } from "./facts.ts";
import { lifecycleOf } from "./lifecycle.ts";
import { modelName } from "./perform/model.ts";
import type { World } from "./perform/world.ts";
import { quietEvents } from "./quiet-events.ts";
import type { TurnSetup } from "./turn.ts";
import { DEFAULT_TURN_SETTINGS, type TurnError, type TurnRequest } from "./turn-request.ts";

/** A turn's beginning: `setup` is data, `world` is where it happens. */
export interface OpenedTurn {
  setup: TurnSetup;
  signal: AbortSignal;
  open(occurred: (fact: Occurrence) => void): World;
}

export function openTurn(asked: TurnRequest, purpose: TurnSetup["purpose"]): OpenedTurn {
  const request = { ...asked, onEvent: quietEvents(asked) };
  const { ports, state } = request;
  const signal = request.signal ?? new AbortController().signal;
  let record: (fact: Occurrence) => void = () => {};
  let world: World | undefined;
  const engine = request.engine.guard.enter({
    signal,
    sessionKey: ports.transcript.session.sessionKey,
    ...delegatedCompaction(ports, (state) => {
      if (world !== undefined) world.delegated = state;
    }),
    onSetAside: ({ operation, reason }) =>
      request.onEvent({
        type: "notice",
        text: `Engine "${request.engine.guard.engineId}" failed (${operation}: ${reason}); another one answers.`,
      }),
    record: (call) => record({ type: "engine-called", call }),
  });
  const setup = setupOrRelease(request, engine, purpose);
  return {
    setup,
    signal,
    open(occurred) {
      record = occurred;
      const { transcript } = ports;
      world = {
        ...{ setup, request, ports, state, engine, signal, transcript, occurred },
        isWatched: asked.isWatched ?? asked.onEvent !== undefined,
        held: [],
        delegated: null,
        calling: null,
        execution: null,
        rewriting: Promise.resolve(),
      };
      return world;
    },
  };
}

/** What a port throws before anything began is the host's to see; the engine is let go of. */
function setupOrRelease(...asked: Parameters<typeof setupOf>): TurnSetup {
  const [, engine] = asked;
  try {
    return setupOf(...asked);
  } catch (error) {
    engine.release();
    throw error;
  }
}

function setupOf(
  request: TurnRequest,
  engine: GuardedEngine,
  purpose: TurnSetup["purpose"],
): TurnSetup {
  const { ports, systemPrompt, prompt } = request;
  const { transcript, execution } = ports;
  const model = modelIn(request);
  const { guard, configured, source, degraded } = request.engine;
  const settings = { ...DEFAULT_TURN_SETTINGS, ...request.settings };
  const { tools, problem } = listTools(request, purpose);
  const { refused } = request.engine;
  const fixedTokens = fixedTokensOf(systemPrompt, tools);
  const prompted = estimateMessage({ role: "user", content: prompt.content }).estimate;
  const { info } = engine;
  return {
    turnId: ports.ids.next(),
    startedAt: ports.clock.now(),
    startedMonotonic: ports.clock.monotonic(),
    purpose,
    kind: request.kind ?? "user",
    session: transcript.session,
    hadSession: transcript.exists(),
    engine: {
      id: guard.engineId,
      info,
      methods: methodsOf(engine),
      strict: guard.policy === "strict",
      degraded,
      configured,
      source,
    },
    lifecycle: lifecycleOf(info, { keepsDeliveries: transcript.deliveries !== undefined }),
    model,
    requestedModel: request.requestedModel ?? modelName(model),
    ask: request.ask ?? {},
    leftOut: request.leftOut ?? [],
    // Its program asks whom it was begun with.
    fallbacks: purpose === "turn" && execution === undefined ? (request.fallbacks ?? []) : [],
    fallback: request.fallback ?? null,
    settings,
    systemPrompt,
    prompt,
    stored: storedPrompt(request),
    tools,
    fixedTokens,
    budget: planBudget({
      contextWindow: model.contextWindow,
      reserveTokens: settings.reserveTokens,
      fixedTokens: fixedTokens + prompted,
      tokenRatio: settings.tokenRatio,
    }),
    failure:
      refused === undefined
        ? (refusalOf(request, purpose) ?? lostProgram(request) ?? problem)
        : failureOfEngine(refused),
    execution: execution === undefined ? null : factsOf(execution),
    host: {
      compacts: ports.compaction !== undefined,
      hasHooks: request.beforePromptBuild !== undefined,
      listens: request.saidMeanwhile !== undefined && execution === undefined,
    },
  };
}

/** With as much of its window as the program leaves alone. */
function modelIn({ ports: { execution, transcript }, model }: TurnRequest): TurnRequest["model"] {
  const tokens = execution?.windowTokens?.(transcript.session, model);
  return tokens === undefined || tokens >= model.contextWindow
    ? model
    : { ...model, contextWindow: tokens };
}

const factsOf = ({
  id,
  label,
  harnessId,
  capabilities,
}: ExecutionPort): TurnSetup["execution"] => ({
  ...{ id, label, harnessId },
  capabilities: [...capabilities],
});

/** What is no turn asks no model, or may do without one. */
const refusalOf = ({ refusal }: TurnRequest, purpose: TurnSetup["purpose"]): TurnError | null =>
  refusal === undefined || purpose !== "turn" ? null : { kind: "host", ...refusal };

/** By the id that engines know it by. */
function storedPrompt({ goesOnFrom, prompt }: TurnRequest): TurnSetup["stored"] {
  if (goesOnFrom === undefined) return null;
  return { id: messageId({ ...prompt, role: "user" }) || goesOnFrom, entryId: goesOnFrom };
}

/** What a program did of a turn, and where, nobody knows who did not run it. */
const lostProgram = ({ goesOnFrom, ports }: TurnRequest): TurnError | null =>
  goesOnFrom === undefined || ports.execution === undefined
    ? null
    : {
        kind: "host",
        code: "HARNESS_FAILED",
        message: `The turn was cut short while ${ports.execution.label} ran it, which cannot go on with it; say what is to be done again.`,
      };

const failureOfEngine = (refused: ContextEngineError): TurnError => ({
  kind: "engine",
  code: refused.code,
  message: describeError(refused),
});

/** A turn whose tools cannot be listed fails, but not before its message is stored. */
function listTools(
  { ports }: TurnRequest,
  purpose: TurnSetup["purpose"],
): { tools: readonly ToolDefinition[]; problem: TurnError | null } {
  if (purpose === "compaction" || ports.tools === undefined) return { tools: [], problem: null };
  try {
    return { tools: ports.tools.list(ports.transcript.session), problem: null };
  } catch (error) {
    if (purpose !== "turn") throw error;
    const message = `The host could not list its tools: ${describeError(error)}`;
    ports.log.error(`turn failed: ${message}`);
    return { tools: [], problem: { kind: "host", message } };
  }
}
