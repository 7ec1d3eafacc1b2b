// Does what a turn asks for and tells it what came of it.
import { ContextEngineError, isAbort } from "@clew/plugin-sdk/core";
import { pause } from "@clew/plugin-sdk/host";
import { codeOf, describeError } from "../engine/quarantine.ts";
import { readBranch } from "../session/session-state.ts";
import { storeStep } from "../session/store-step.ts";
import type { TranscriptStep } from "../transcript-port.ts";
import { type Ask, type Effect, isTell } from "./effects.ts";
import type { Answer, Fact, Occurrence } from "./facts.ts";
import { beginTurn, next } from "./next.ts";
import { observed } from "./observe.ts";
import { perform, tell } from "./perform/perform.ts";
import { storeHeld, survey } from "./perform/transcript.ts";
import type { World } from "./perform/world.ts";
import { namedCall, partsOf, reportOf } from "./report-of.ts";
import type { Turn } from "./turn.ts";
import type { TurnSoFar } from "./turn-request.ts";

/** Asks that only an engine answers: their throws are its failures. */
const OF_THE_ENGINE: ReadonlySet<Ask["do"]> = new Set<Ask["do"]>([
  "bootstrap",
  "maintain",
  "deliver",
  "assemble",
  "compact",
]);

/** Asks that are carried out although the run was cancelled: what happened must be on record. */
const IN_ANY_CASE: ReadonlySet<Ask["do"]> = new Set<Ask["do"]>([
  "append",
  "record",
  "run-tool",
  "await-execution",
  "tell-after",
]);

export interface Performance {
  turn: Turn;
  facts: readonly Fact[];
  /** What was not done, since the caller wanted to stop there; null = nothing was left to do. */
  stoppedBefore: Ask | null;
  /** Stores the end of the turn. */
  close(ended: NonNullable<TranscriptStep["report"]>): Promise<void>;
}

/**
 * Ends when nothing is left to do, or before the first ask that `stopBefore` names. `open` makes
 * the world the effects work on; what happens in it beside the answers is told through `occurred`.
 */
export async function runEffects(
  opened: Turn,
  open: (occurred: (fact: Occurrence) => void) => World,
  options: { stopBefore?: ReadonlySet<Ask["do"]>; signal: AbortSignal },
): Promise<Performance> {
  const facts: Fact[] = [];
  const waiting: Occurrence[] = [];
  const world = open((fact) => waiting.push(fact));
  const { ports, request } = world;
  let { turn, effects } = beginTurn(opened);
  request.onBegin?.(() => turnSoFar(world, turn, facts));
  const observers = {
    onStep: request.onStep,
    spans: ports.spans,
    now: () => ports.clock.monotonic(),
  };
  const take = (fact: Fact): readonly Effect[] => {
    facts.push(fact);
    const step = next(turn, fact);
    turn = step.turn;
    world.setup = turn.setup;
    return step.effects;
  };
  for (;;) {
    const asked = tellAll(world, effects);
    if (asked === undefined || options.stopBefore?.has(asked.do)) {
      for (const fact of waiting.splice(0)) take(fact);
      if (asked === undefined) facts.push(...(await lastLook(world)));
      world.execution?.run.close();
      world.engine.release();
      const stoppedBefore = asked ?? null;
      return { turn, facts, stoppedBefore, close: (ended) => storeEnd(world, ended) };
    }
    // Of a long session every effect looks at much, and so does what decides the next one.
    await pause();
    const answer = await observed(observers, world.setup, asked, () =>
      answerTo(world, asked, options.signal),
    );
    world.calling = null;
    await world.rewriting;
    await pause();
    for (const fact of [...waiting.splice(0), ...setAside(world, turn)]) take(fact);
    effects = take(answer);
  }
}

function turnSoFar({ calling }: World, turn: Turn, facts: readonly Fact[]): TurnSoFar {
  const report = reportOf(turn, facts);
  const parts = partsOf(facts);
  if (calling?.call == null) return { report, parts, isAnswering: false };
  const modelCalls = [...report.modelCalls, namedCall(calling.call, turn.setup)];
  return {
    report: { ...report, modelCalls },
    parts: { ...parts, ...calling.parts },
    isAnswering: true,
  };
}

/** What the engine lacks when everything is done; nothing where that cannot be read. */
async function lastLook(world: World): Promise<Fact[]> {
  try {
    await readBranch(world.state, world.transcript);
    await pause();
    return [survey(world)];
  } catch {
    return [];
  }
}

/** The one effect that wants an answer, after all the others were carried out. */
function tellAll(world: World, effects: readonly Effect[]): Ask | undefined {
  let asked: Ask | undefined;
  for (const effect of effects)
    if (isTell(effect)) tell(world, effect);
    else asked = effect;
  return asked;
}

/** What the guard decided while the effect was carried out. */
function setAside({ engine, setup }: World, turn: Turn): Occurrence[] {
  const { degraded: failure, info } = engine;
  if (failure === null || turn.engine.aside !== null) return [];
  const own = info === setup.engine.info || info.id === setup.engine.info.id;
  return [
    {
      type: "engine-set-aside",
      failure,
      ownsCompaction: !own && info.ownsCompaction === true,
    },
  ];
}

async function answerTo(
  world: World,
  ask: Ask,
  signal: AbortSignal,
): Promise<Answer | Extract<Occurrence, { type: "aborted" | "broke" }>> {
  let begun = false;
  try {
    // Every effect works on the branch as it is when it begins.
    await storeHeld(world, ask.do);
    await readBefore(world, ask);
    begun = true;
    if (!IN_ANY_CASE.has(ask.do)) signal.throwIfAborted();
    return await perform(world, ask);
  } catch (error) {
    if (signal.aborted && isAbort(error, signal)) return { type: "aborted" };
    return brokenBy(error, begun && OF_THE_ENGINE.has(ask.do) ? ask : undefined, world.setup);
  }
}

/** What happened is stored also where the transcript cannot be read now. */
async function readBefore({ state, transcript, ports }: World, ask: Ask): Promise<void> {
  try {
    await readBranch(state, transcript);
  } catch (error) {
    if (ask.do !== "append") throw error;
    ports.log.warn(`the transcript could not be read: ${describeError(error)}`);
  }
}

/** What of an engine's may be named: who failed in which method, where the error does not say. */
function brokenBy(
  error: unknown,
  ask: Ask | undefined,
  { engine }: World["setup"],
): Extract<Occurrence, { type: "broke" }> {
  const message = describeError(error);
  const byEngine = ask !== undefined;
  if (ContextEngineError.is(error)) return { type: "broke", message, code: error.code, byEngine };
  if (!byEngine || !engine.strict) return { type: "broke", message, byEngine };
  const method = ask.do === "deliver" ? ask.delivery.method : ask.do;
  return {
    type: "broke",
    message: `context engine "${engine.id}" ${method} failed: ${message}`,
    code: codeOf(error),
    byEngine,
  };
}

/** What happened stands, whether or not its report can be stored. */
async function storeEnd(
  { transcript, held, ports }: World,
  report: NonNullable<TranscriptStep["report"]>,
): Promise<void> {
  try {
    await storeStep(transcript, { deliveries: held, report });
  } catch (error) {
    ports.log.error(`the end of a turn was not stored: ${describeError(error)}`, {
      sessionKey: transcript.session.sessionKey,
    });
  }
}
