// Hands a turn to the program that runs it, and waits for what happens there.
import { ContextEngineError, isAbort, messageId } from "@clew/plugin-sdk/core";
import { abortable, type ModelError, pause, sleep } from "@clew/plugin-sdk/host";
import { describeError } from "../../engine/quarantine.ts";
import type {
  ExecutionEvent,
  ExecutionItem,
  ExecutionOutcome,
  ExecutionRun,
  ExecutionTurn,
} from "../../execution-port.ts";
import type { ModelCallReport, ReportParts } from "../../report.ts";
import { advanceRequest, emptyRequestMemory } from "../../request/request-items.ts";
import { messagesOf, type ViewItem } from "../../request/view-item.ts";
import type { Ask } from "../effects.ts";
import type { Answer } from "../facts.ts";
import { modelName, whyIn } from "./model.ts";
import { type ExecutionUnderWay, sessionOf, type World } from "./world.ts";

type Asked<Do extends Ask["do"]> = Extract<Ask, { do: Do }>;
type Answered<Type extends Answer["type"]> = Extract<Answer, { type: Type }>;

/** How long a program that was told to stop may take to say so. */
const STOP_BOUND_MS = 10_000;

/** An attempt before this one is over for good. */
export function beginExecution(
  world: World,
  asked: Asked<"begin-execution">,
): Answered<"execution-begun"> {
  world.execution?.run.close();
  world.execution = {
    run: begun(world, asked),
    asked,
    untold: asked.items.length,
    since: world.ports.clock.monotonic(),
  };
  return { type: "execution-begun" };
}

/** A host whose program cannot even be asked has a turn that failed. */
function begun(world: World, asked: Asked<"begin-execution">): ExecutionRun {
  try {
    return world.ports.execution!.begin(turnFor(world, asked));
  } catch (error) {
    const outcome = failedBy(world, error);
    return { next: async () => ({ type: "end", outcome }), close: () => {} };
  }
}

function turnFor(world: World, asked: Asked<"begin-execution">): ExecutionTurn {
  const { setup, request, signal, engine } = world;
  const { system, addition, tools, projection } = asked;
  const { items, turn } = handed(world, asked);
  return {
    ...{ turnId: setup.turnId, session: sessionOf(world), model: setup.model, ask: setup.ask },
    engine: { id: setup.engine.id, ownsCompaction: engine.info.ownsCompaction === true },
    ...{ system, addition, tools, turn },
    history: items,
    projection:
      projection === null
        ? null
        : {
            mode: projection.mode,
            epoch: projection.epoch ?? null,
            fingerprint: projection.fingerprint ?? null,
          },
    ...{ budget: setup.budget, signal },
    onDelta: (delta) => request.onEvent?.(delta),
  };
}

/** The view as the provider's rules want it, parted where the person's message is. */
function handed({ ports, setup }: World, { items, promptId }: Asked<"begin-execution">) {
  const split = items.findIndex(({ id }) => id !== undefined && id === promptId);
  const part = (some: readonly ViewItem[]): ExecutionItem[] => {
    const wanted = messagesOf(some);
    const messages =
      ports.policy?.prepareOutbound({ messages: wanted, model: setup.model }).messages ?? wanted;
    return messages.map((message) => ({ message, id: messageId(message) ?? null }));
  };
  const at = split < 0 ? items.length : split;
  return { items: part(items.slice(0, at)), turn: part(items.slice(at)) };
}

/**
 * What counts is stored before the program is asked for more, so that a kill loses nothing told.
 */
export async function awaitExecution(
  world: World,
  { answer }: Asked<"await-execution">,
): Promise<Answered<"executed">> {
  const { clock } = world.ports;
  const { execution } = world;
  const started = clock.monotonic();
  const event =
    execution === null ? NOBODY_RUNS : await eventOf(world, () => execution.run.next(answer));
  if (event.type === "handed-over" && execution !== null)
    execution.untold = Math.min(event.projection.handed, execution.asked.items.length);
  const ended = event.type === "usage" ? callOf(world, event) : { call: null, parts: {} };
  await pause();
  return {
    ...{ type: "executed", event, at: clock.now(), ms: clock.monotonic() - started },
    ...ended,
  };
}

const NOBODY_RUNS: ExecutionEvent = { type: "end", outcome: { status: "interrupted" } };

/** A program that was told to stop says so itself, but is not waited for without end. */
async function eventOf(world: World, next: () => Promise<ExecutionEvent>): Promise<ExecutionEvent> {
  const { signal } = world;
  try {
    const coming = next();
    const stopped = abortable(signal, () => new Promise<never>(() => {})).catch(() =>
      sleep(STOP_BOUND_MS),
    );
    return (await Promise.race([coming, stopped])) ?? NOBODY_RUNS;
  } catch (error) {
    return { type: "end", outcome: failedBy(world, error) };
  }
}

function failedBy({ signal, setup }: World, error: unknown): ExecutionOutcome {
  if (signal.aborted && isAbort(error, signal)) return { status: "interrupted" };
  const message = `${setup.execution?.label ?? "The program"} failed: ${describeError(error)}`;
  const failure: ModelError = { kind: "unavailable", message };
  return ContextEngineError.is(error)
    ? { status: "failed", error: { ...failure, message: error.message }, code: error.code }
    : { status: "failed", error: failure };
}

/** One call of the program's, with what the host handed over for it. */
function callOf(
  world: World,
  { usage, stopReason }: Extract<ExecutionEvent, { type: "usage" }>,
): { call: ModelCallReport | null; parts: ReportParts } {
  const { execution, setup, state, ports } = world;
  if (execution === null || setup.execution === null) return { call: null, parts: {} };
  const now = ports.clock.monotonic();
  const { described, isFirst } = describeHanded(world, execution);
  const { system, tools, messages, requestHash, parts } = described;
  const call: ModelCallReport = {
    index: state.modelCalls++,
    durationMs: now - execution.since,
    system: isFirst ? system : [],
    tools: isFirst ? tools : [],
    messages,
    requestHash,
    leafId: state.branch.at(-1)?.id ?? null,
    policyChanges: [],
    ...{ usage, stopReason: stopReason ?? "stop", error: null, retries: 0 },
    model: modelName(setup.model),
    harness: setup.execution.harnessId,
  };
  execution.since = now;
  state.lastUsage = usage;
  // The next call that the host makes itself is told in full: this one is no beginning of it.
  state.request = emptyRequestMemory();
  return { call, parts };
}

/** Each call's own list: what a program holds besides is not the host's to say. */
function describeHanded(
  { setup, state, ports }: World,
  execution: ExecutionUnderWay,
): { described: ReturnType<typeof advanceRequest>; isFirst: boolean } {
  const { items, system, addition, tools } = execution.asked;
  const isFirst = execution.untold > 0;
  const given = execution.untold === 0 ? [] : items.slice(-execution.untold);
  execution.untold = 0;
  const described = advanceRequest({
    model: modelName(setup.model),
    system: addition === null ? system : [...system, { id: "engine", text: addition }],
    tools,
    messages: messagesOf(given),
    whyOf: whyIn(given),
    hash: (text) => ports.ids.hash(text),
    prefixOf: state.prefixOf,
    memory: emptyRequestMemory(),
  });
  return { described, isFirst };
}
