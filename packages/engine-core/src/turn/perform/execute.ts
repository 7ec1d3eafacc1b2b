// Hands a turn to the program that runs it, and waits for what happens there.
import { type AgentMessage, ContextEngineError, isAbort, messageId } from "@clew/plugin-sdk/core";
import { abortable, type ModelError, pause, sleep } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describeError } from "../../engine/quarantine.ts";
import type {
  ExecutionEvent,
  ExecutionItem,
  ExecutionOutcome,
  ExecutionRun,
  ExecutionTurn,
} from "../../execution-port.ts";
import type { ReportParts } from "../../report/item.ts";
import type { ModelCallReport } from "../../report/model-call.ts";
import { advanceRequest, emptyRequestMemory } from "../../request/request-items.ts";
import { messagesOf, type ViewItem } from "../../request/view-item.ts";
import type { Ask } from "../effects.ts";
import { nothingSeen, planSeen } from "../executed-calls.ts";
import type { Answer } from "../facts.ts";
import { modelName, whyIn, withheldIn } from "./model.ts";
import { runningTurn } from "./transcript.ts";
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
  const view = viewOf(world, asked);
  const { clock } = world.ports;
  world.execution = {
    ...{ run: begun(world, asked, view), asked, view },
    held: knowsThread(world) ? 0 : null,
    ...{ isTold: false, memory: emptyRequestMemory(), knownFrom: world.state.branch.length },
    ...{ seen: null, since: clock.monotonic() },
  };
  return { type: "execution-begun" };
}

/** Whether it is known here what its model sees: all of it was chosen here. */
const knowsThread = ({ setup }: World): boolean =>
  setup.execution?.capabilities.includes("assemble-before-prompt") === true;

type View = ExecutionUnderWay["view"];

/** A host whose program cannot even be asked has a turn that failed. */
function begun(world: World, asked: Asked<"begin-execution">, view: View): ExecutionRun {
  try {
    return world.ports.execution!.begin(turnFor(world, asked, view));
  } catch (error) {
    const outcome = failedBy(world, error);
    return { next: async () => ({ type: "end", outcome }), close: () => {} };
  }
}

function turnFor(
  world: World,
  asked: Asked<"begin-execution">,
  { history, turn }: View,
): ExecutionTurn {
  const { setup, request, signal, engine } = world;
  const { system, addition, tools, projection } = asked;
  const items = (messages: readonly AgentMessage[]): ExecutionItem[] =>
    messages.map((message) => ({ message, id: messageId(message) ?? null }));
  return {
    ...{ turnId: setup.turnId, session: sessionOf(world), model: setup.model, ask: setup.ask },
    engine: { id: setup.engine.id, ownsCompaction: engine.info.ownsCompaction === true },
    ...{ system, addition, tools, turn: items(turn), history: items(history) },
    before: saidBefore(world.state.branch, asked.promptId),
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

/** A turn that failed without a word leaves nothing that a program could lack. */
function saidBefore(branch: readonly TranscriptEntry[], promptId: string | undefined) {
  const at = branch.findLastIndex(({ id }) => id === promptId);
  const newest = (at < 0 ? branch : branch.slice(0, at)).findLast(
    (entry) => entry.type === "message" && !isEmptyFailure(entry.message),
  );
  if (newest?.type !== "message") return null;
  return messageId(newest.message) ?? newest.id;
}

const isEmptyFailure = (message: AgentMessage): boolean =>
  message.role === "assistant" &&
  message.content.length === 0 &&
  (message.stopReason === "error" || message.stopReason === "aborted");

/** The view as the provider's rules want it, parted where the person's message is. */
function viewOf({ ports, setup }: World, { items, promptId }: Asked<"begin-execution">): View {
  const split = items.findIndex(({ id }) => id !== undefined && id === promptId);
  const part = (some: readonly ViewItem[]) => {
    const wanted = messagesOf(some);
    const prepared = ports.policy?.prepareOutbound({ messages: wanted, model: setup.model });
    return { messages: prepared?.messages ?? wanted, changes: prepared?.changes ?? [] };
  };
  const at = split < 0 ? items.length : split;
  const [history, turn] = [part(items.slice(0, at)), part(items.slice(at))];
  const before = history.messages.length;
  return {
    ...{ history: history.messages, turn: turn.messages },
    changes: [
      ...history.changes,
      ...turn.changes.map((change) => ({ ...change, index: change.index + before })),
    ],
  };
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
  if (execution !== null) noteThread(world.state, execution, event);
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

/** What is known of what its thread holds. */
function noteThread(
  { branch }: World["state"],
  execution: ExecutionUnderWay,
  event: ExecutionEvent,
): void {
  const { view } = execution;
  if (event.type === "native-compaction") {
    execution.held = null;
    execution.knownFrom = branch.length;
  }
  if (event.type !== "handed-over" || execution.held === null) return;
  const { handed, isCompacted } = event.projection;
  const all = view.history.length + view.turn.length;
  execution.held = isCompacted === true ? null : Math.max(0, all - handed);
}

/** One call of the program's, with what its model was to see as far as that is known. */
function callOf(
  world: World,
  { usage, stopReason }: Extract<ExecutionEvent, { type: "usage" }>,
): { call: ModelCallReport | null; parts: ReportParts } {
  const { execution, setup, state, ports } = world;
  if (execution === null || setup.execution === null) return { call: null, parts: {} };
  const now = ports.clock.monotonic();
  const isFirst = execution.seen === null;
  execution.seen = planSeen(state.branch, execution.seen ?? nothingSeen(execution.knownFrom));
  const { described, held } = describeSeen(world, execution);
  const { system, tools, messages, requestHash, parts } = described;
  const { items } = execution.memory;
  const call: ModelCallReport = {
    index: state.modelCalls++,
    durationMs: now - execution.since,
    ...{ system, tools, messages, requestHash },
    leafId: state.branch[execution.seen.end - 1]?.id ?? null,
    policyChanges: isFirst ? [...execution.view.changes] : [],
    ...(held !== null && withheldIn(world, execution.asked.items, items, outgoing(execution))),
    ...{ usage, stopReason: stopReason ?? "stop", error: null, retries: 0 },
    model: modelName(setup.model),
    harness: setup.execution.harnessId,
    ...(held !== null && { held }),
  };
  execution.since = now;
  execution.isTold = true;
  state.lastUsage = usage;
  // The next call that the host makes itself is told in full: this one is no beginning of it.
  state.request = emptyRequestMemory();
  return { call, parts };
}

const outgoing = ({ view: { history, turn, changes } }: ExecutionUnderWay) => ({
  ...{ messages: [...history, ...turn], changes },
});

/**
 * The whole view and what the program said since. Where it holds more than is known, only what is
 * known to be in it: the turn's own messages, and in a thread that it made smaller what came then.
 */
function describeSeen(
  world: World,
  execution: ExecutionUnderWay,
): { described: ReturnType<typeof advanceRequest>; held: number | null } {
  const { setup, state, ports } = world;
  const { asked, view, knownFrom, seen, memory } = execution;
  const { items, system, addition, tools, promptId } = asked;
  const ids = new Set(state.branch.slice(knownFrom, seen?.end).map(({ id }) => id));
  const since = runningTurn(world, promptId).filter(
    ({ why: { source } }) => source.kind === "entry" && ids.has(source.entryId),
  );
  const known = execution.held === null ? view.turn : [...view.history, ...view.turn];
  const messages = [...known, ...messagesOf(since)];
  const described = advanceRequest({
    model: modelName(setup.model),
    system: addition === null ? system : [...system, { id: "engine", text: addition }],
    ...{ tools, messages, memory },
    whyOf: whyIn([...items, ...since]),
    hash: (text) => ports.ids.hash(text),
    prefixOf: state.prefixOf,
  });
  const held = execution.held !== null && execution.isTold ? messages.length : execution.held;
  return { described, held };
}
