// Runs random sessions of a kind on an engine, and reports the smallest one that fails.
import { NotApplicable } from "../case.ts";
import type { CaseContext } from "../case-context.ts";
import { CaseFailure } from "../engine-call.ts";
import { processorMs } from "../patience.ts";
import { detourFault } from "./detours.ts";
import { randomScript, type Weather } from "./generate.ts";
import { runScript } from "./host.ts";
import { saltInWords, saltOf } from "./marks.ts";
import { learnFields, learnTraits } from "./observe.ts";
import { learnPast } from "./past.ts";
import { lossOf, type Outlived, outlive } from "./persistence.ts";
import {
  ANSWERS,
  type Circumstances,
  inWords,
  ORDINARY,
  RESULTS,
  type Script,
  SPEECH,
  type Speech,
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
    const salt = failedWith.get(script) ?? script.salt;
    const told = salt === undefined ? "" : ` Salt: ${salt}.`;
    super(`${sentence(fault)} Smallest session: ${inWords(script)}.${told}`);
    this.script = { ...script, ...(salt !== undefined && { salt }) };
    this.fault = fault;
  }
}

/** What the names of sessions were drawn from that failed. */
const failedWith = new WeakMap<Script, string>();

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

const SESSIONS = 12;
/** Ms of a processor that a case may spend in making a session smaller. */
const SHRINKING_MS = 5_000;
/** And on the wall, also of a busy machine. */
const LONGEST_SHRINKING_MS = 40_000;

/** Throws a SessionFailure for the first session that fails. */
export async function explore(context: CaseContext, weather: Weather, salt: number): Promise<void> {
  const { count = SESSIONS, seed = 1 } = context.sessions;
  const { traits } = await observe(context);
  for (let number = 0; number < count * (weather.count ?? 1); number++) {
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

/** Throws a SessionFailure when a session fails in which much is said and returned at once. */
export const exploreSizes = (context: CaseContext): Promise<void> => exploreOne(context, SIZES);

/** Throws a SessionFailure when one of many sessions fails. */
export const exploreMany = (context: CaseContext): Promise<void> => exploreOne(context, MANY);

/** Throws a SessionFailure when a session fails that was long before there was the engine. */
export async function explorePast(context: CaseContext): Promise<void> {
  const { traits } = await observe(context);
  if (!traits.takesPast)
    throw new NotApplicable("engines that take in a session that was there before them");
  for (const turns of PASTS)
    await exploreOne(context, { host: ORDINARY, steps: pastOf(turns, QUIET.steps.slice(1, 2)) });
}

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

const faultOf = async (context: CaseContext, script: Script, traits: Traits) => {
  const run = (one: Script, work: (stage: Stage) => Promise<void>) =>
    faultIn(context, { script: one, traits }, work);
  const fault = await run(script, (stage) => runScript(stage, script));
  // Views of an engine that keeps no budget are compared as they come.
  if (fault !== undefined || traits.forgetsBudgets) return fault;
  const strayed = await detourFault(script, run);
  if (strayed !== undefined) failedWith.delete(script);
  return strayed;
};

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
  const salt = script.salt === undefined ? context.nextSalt() : saltOf(script.salt);
  try {
    await context.beside((fresh) => work(new Stage(fresh, host, traits, salt)), {
      withoutFolder: !host.folder,
      letsGo: true,
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof CaseFailure)) throw error;
    failedWith.set(script, saltInWords(salt));
    return error.message;
  }
}

const turns = (calls: readonly (readonly ("long" | "plain")[])[]): Script["steps"] =>
  calls.map((some) => ({
    ...{ do: "turn", says: "plain", answers: "plain", ends: "told", heartbeat: false, in: 0 },
    tools: some.length === 0 ? [] : [some],
  }));

/** Short and quiet, so that what an engine does with it, it does with every such session. */
const QUIET: Script = { host: ORDINARY, steps: turns([["long", "plain"], [], ["plain"]]) };

/** A session that was there before the engine. */
const pastOf = (turns: number, then: Script["steps"] = []): Script["steps"] => [
  { do: "past", turns, in: 0 },
  ...then,
];
/** Turns of two messages, more of them than whoever counts on few makes room for. */
const PASTS = [30, 60, 150];

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

/** By the turn: what is said twice, and what is very long. */
const SAID_ONCE: Readonly<Record<number, Speech>> = {
  ...{ 9: "same", 19: "same", 29: "same", 39: "same", 49: "same", 59: "same" },
  ...{ 52: "huge" },
};

/** With more messages than whoever counts on few makes room for, and some said again. */
const LONG: Script = {
  host: ORDINARY,
  steps: turns(Array.from({ length: 60 }, (_, at) => (at % 4 === 0 ? ["plain"] : []))).map(
    (step, at) => (step.do === "turn" && SAID_ONCE[at] ? { ...step, says: SAID_ONCE[at] } : step),
  ),
};

/** More sessions than whoever counts on few makes room for; the first goes on in the end. */
const MANY: Script = {
  host: ORDINARY,
  steps: turns(Array.from({ length: 26 }, () => [])).map((step, at) => ({ ...step, in: at % 25 })),
};

/** With requests, replies and output of very different sizes, all of which there is room for. */
const SIZES: Script = {
  host: ORDINARY,
  steps: Array.from({ length: 7 }, (_, at) => ({
    ...{ do: "turn", says: "plain", ends: "told", heartbeat: false, in: 0 },
    tools: [["huge"], ...(at % 3 === 0 ? [["plain", "huge"] as const] : [])],
    answers: at % 2 === 0 ? "huge" : "plain",
  })),
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
  if (traits.keepsAll) await learn({ host: ORDINARY, steps: pastOf(3) }, learnPast);
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
