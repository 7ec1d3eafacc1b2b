// Runs random sessions of a kind on an engine, and reports the smallest one that fails.
import { NotApplicable } from "../case.ts";
import type { CaseContext } from "../case-context.ts";
import { CaseFailure } from "../engine-call.ts";
import { processorMs } from "../patience.ts";
import { randomScript, type Weather } from "./generate.ts";
import { runScript } from "./host.ts";
import { learnFields, learnTraits } from "./observe.ts";
import { lossOf, type Outlived, outlive } from "./persistence.ts";
import {
  ANSWERS,
  type Circumstances,
  inWords,
  ORDINARY,
  RESULTS,
  type Script,
  SPEECH,
} from "./script.ts";
import { shrink } from "./shrink.ts";
import { Stage } from "./stage.ts";
import { type Traits, UNKNOWN } from "./traits.ts";

/** A session that failed, and why. */
export class SessionFailure extends CaseFailure {
  /** To be run again by `clew`'s or the package's own command, or by `replaySession`. */
  readonly script: Script;
  readonly fault: string;

  constructor(fault: string, script: Script) {
    super(`${sentence(fault)} Smallest session: ${inWords(script)}.`);
    this.script = script;
    this.fault = fault;
  }
}

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

const SESSIONS = 10;
/** Ms of a processor that a case may spend in making a session smaller. */
const SHRINKING_MS = 5_000;
/** And on the wall, also of a busy machine. */
const LONGEST_SHRINKING_MS = 40_000;

/** Throws a SessionFailure for the first session that fails. */
export async function explore(context: CaseContext, weather: Weather, salt: number): Promise<void> {
  const { count = SESSIONS, seed = 1 } = context.sessions;
  const { traits } = await observe(context);
  for (let number = 0; number < count; number++) {
    const script = randomScript(weather, seed * 1_000_003 + salt * 7_919 + number);
    const fault = await faultOf(context, script, traits);
    if (fault !== undefined)
      throw await smallest(script, fault, (smaller) => faultOf(context, smaller, traits));
  }
}

/** Throws a SessionFailure when a session of many turns fails. */
export const exploreLong = (context: CaseContext): Promise<void> => exploreOne(context, LONG);

/** Throws a SessionFailure when a session fails that goes on for long after a compaction. */
export const exploreCompacted = (context: CaseContext): Promise<void> =>
  exploreOne(context, COMPACTED);

async function exploreOne(context: CaseContext, script: Script): Promise<void> {
  const { traits } = await observe(context);
  const fault = await faultOf(context, script, traits);
  if (fault !== undefined)
    throw await smallest(script, fault, (smaller) => faultOf(context, smaller, traits));
}

/** Throws a SessionFailure when something was lost that the engine keeps otherwise. */
export async function exploreKills(context: CaseContext): Promise<void> {
  const { loss, kills } = await observe(context);
  if (loss !== undefined) throw loss;
  const { had, left } = kills.at(-1) ?? { had: 0, left: 0 };
  if (had === 0)
    throw new NotApplicable("engines that keep what they are told; this one shows nothing of it");
  if (left === 0)
    throw new NotApplicable(
      `engines whose record outlives their process; this one had ${had} messages before it was killed, and none after it`,
    );
}

/** Runs one session; throws a SessionFailure when it fails. */
export async function replay(context: CaseContext, script: Script): Promise<void> {
  const { traits, loss } = await observe(context);
  const fault =
    (await faultOf(context, script, traits)) ??
    (loss && (await killFault(context, { ...loss.script, ...script }, traits)));
  if (fault !== undefined) throw new SessionFailure(fault, script);
}

/** As small as it can be made in some time. */
async function smallest(
  script: Script,
  fault: string,
  fails: (script: Script) => Promise<string | undefined>,
): Promise<SessionFailure> {
  const end = processorMs() + SHRINKING_MS;
  const latest = Date.now() + LONGEST_SHRINKING_MS;
  const mayGoOn = () => processorMs() < end && Date.now() < latest;
  const found = await shrink(script, fault, fails, mayGoOn);
  return new SessionFailure(found.fault, found.script);
}

const faultOf = (context: CaseContext, script: Script, traits: Traits) =>
  faultIn(context, { script, traits }, (stage) => runScript(stage, script));

/** What a kill takes of a session of turns, of an engine that keeps what it is told. */
async function killFault(
  context: CaseContext,
  script: Script,
  traits: Traits,
): Promise<string | undefined> {
  let lost: string | undefined;
  const fault = await faultIn(context, { script, traits }, async (stage) => {
    lost = lossOf((await outlive(stage, script)).kills);
  });
  return fault ?? lost;
}

/** What is wrong in what `work` does with an engine of its own; undefined = nothing is. */
async function faultIn(
  context: CaseContext,
  { script, traits }: { script: Script; traits: Traits },
  work: (stage: Stage) => Promise<void>,
): Promise<string | undefined> {
  const host = { ...ORDINARY, ...script.host };
  try {
    await context.beside((fresh) => work(new Stage(fresh, host, traits)), {
      withoutFolder: !host.folder,
    });
    return undefined;
  } catch (error) {
    if (error instanceof CaseFailure) return error.message;
    throw error;
  }
}

const turns = (calls: readonly (readonly ("long" | "plain")[])[]): Script["steps"] =>
  calls.map((some) => ({
    ...{ do: "turn", says: "plain", answers: "plain", ends: "told", heartbeat: false, in: 0 },
    tools: some.length === 0 ? [] : [some],
  }));

/** Short and quiet, so that what an engine does with it, it does with every such session. */
const QUIET: Script = { host: ORDINARY, steps: turns([["long", "plain"], [], ["plain"]]) };

/** With every kind of message, and so long that what is old is shown as what is old. */
const VARIED: Script = {
  host: ORDINARY,
  steps: Array.from({ length: Math.max(SPEECH.length, ANSWERS.length) + 3 }, (_, at) => ({
    ...{ do: "turn", ends: "told", heartbeat: false, in: 0 },
    says: SPEECH[at % SPEECH.length]!,
    answers: ANSWERS[at % ANSWERS.length]!,
    tools: at % 3 === 0 ? [RESULTS] : [],
  })),
};

/** With more messages than most engines would put off writing. */
const LASTING = turns(Array.from({ length: 16 }, (_, at) => (at % 3 === 1 ? ["plain"] : [])));

/** With more messages than whoever counts on few makes room for, and some said again. */
const LONG: Script = {
  host: ORDINARY,
  steps: turns(Array.from({ length: 60 }, (_, at) => (at % 4 === 0 ? ["plain"] : []))).map(
    (step, at) => (step.do === "turn" && at % 10 === 9 ? { ...step, says: "same" } : step),
  ),
};

/** With a compaction early, and more turns after it than whoever counts on few makes room for. */
const COMPACTED: Script = {
  host: ORDINARY,
  steps: [
    ...turns([["long", "plain"], ["long"], []]),
    { ...{ do: "compact", by: 0.5, asked: "budget", model: true, bare: false }, in: 0 },
    ...turns(Array.from({ length: 27 }, (_, at) => (at % 4 === 0 ? ["plain"] : []))),
  ],
};

/** What an engine was seen to do. */
interface Observed {
  traits: Traits;
  /** The last of them tells what comes back. */
  kills: Outlived["kills"];
  /** Something that it keeps was lost in a kill. Absent: nothing was. */
  loss?: SessionFailure;
}

/** By the calls of one engine under test: what it does is seen once. */
const known = new WeakMap<object, Promise<Observed>>();

async function observe(context: CaseContext): Promise<Observed> {
  const before = known.get(context.calls);
  if (before === undefined) {
    const observed = watch(context);
    known.set(context.calls, observed);
    return observed;
  }
  return before.catch((error: unknown) => {
    if (!(error instanceof SessionFailure)) throw error;
    throw new CaseFailure(
      `Not tried, since a session that every kind begins with failed before: ${sentence(error.fault)}`,
    );
  });
}

async function watch(context: CaseContext): Promise<Observed> {
  let traits = UNKNOWN;
  const learn = async (
    script: Script,
    work: (stage: Stage, script: Script) => Promise<Partial<Traits>>,
  ) => {
    let seen: Partial<Traits> = {};
    const tried = (one: Script) =>
      faultIn(context, { script: one, traits }, async (stage) => {
        seen = await work(stage, one);
      });
    const fault = await tried(script);
    if (fault !== undefined) throw await smallest(script, fault, tried);
    traits = { ...traits, ...seen };
  };
  await learn(QUIET, learnTraits);
  const kills: Outlived["kills"][number][] = [];
  let loss: SessionFailure | undefined;
  for (const name of ["withFiles", "withoutFiles"] as const) {
    const host: Circumstances = { ...ORDINARY, files: name === "withFiles" };
    const script = { host, steps: LASTING };
    let outlived: Outlived = { kills: [], lasts: false };
    await learn(script, async (stage, one) => {
      outlived = await outlive(stage, one);
      return { lasts: { ...traits.lasts, [name]: outlived.lasts } };
    });
    kills.push(...outlived.kills);
    const lost = outlived.lasts ? lossOf(outlived.kills) : undefined;
    if (lost !== undefined)
      loss ??= await smallest(script, lost, (one) => killFault(context, one, traits));
  }
  await learn(VARIED, learnFields);
  return { traits, kills, ...(loss && { loss }) };
}
