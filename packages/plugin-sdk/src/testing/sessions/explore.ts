// Runs random sessions of a kind on an engine, and reports the smallest one that fails.
import type { CaseContext } from "../case-context.ts";
import { CaseFailure } from "../engine-call.ts";
import { randomScript, type Weather } from "./generate.ts";
import { runScript } from "./host.ts";
import { learnFields, learnTraits } from "./observe.ts";
import { ANSWERS, inWords, ORDINARY, RESULTS, type Script, SPEECH } from "./script.ts";
import { shrink } from "./shrink.ts";
import { Stage } from "./stage.ts";
import { type Traits, UNKNOWN } from "./traits.ts";

/** A session that failed, and why. */
export class SessionFailure extends CaseFailure {
  /** To be run again by `clew`'s or the package's own command, or by `replaySession`. */
  readonly script: Script;

  constructor(fault: string, script: Script) {
    super(`${sentence(fault)} Smallest session: ${inWords(script)}.`);
    this.script = script;
  }
}

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

const SESSIONS = 10;
/** Of this time a case may spend in making a session smaller, ms. */
const SHRINKING_MS = 5_000;

/** Throws a SessionFailure for the first session that fails. */
export async function explore(context: CaseContext, weather: Weather, salt: number): Promise<void> {
  const { count = SESSIONS, seed = 1 } = context.sessions;
  const traits = await observe(context);
  for (let number = 0; number < count; number++) {
    const script = randomScript(weather, seed * 1_000_003 + salt * 7_919 + number);
    const fault = await faultOf(context, script, traits);
    if (fault === undefined) continue;
    const end = Date.now() + SHRINKING_MS;
    const smallest = await shrink(
      script,
      fault,
      (smaller) => faultOf(context, smaller, traits),
      () => Date.now() < end,
    );
    throw new SessionFailure(smallest.fault, smallest.script);
  }
}

/** Runs one session; throws a SessionFailure when it fails. */
export async function replay(context: CaseContext, script: Script): Promise<void> {
  const fault = await faultOf(context, script, await observe(context));
  if (fault !== undefined) throw new SessionFailure(fault, script);
}

async function faultOf(
  context: CaseContext,
  script: Script,
  traits: Traits,
): Promise<string | undefined> {
  try {
    const host = { ...ORDINARY, ...script.host };
    await context.beside(
      (fresh) => runScript(new Stage(fresh, host, traits), script),
      !host.folder,
    );
    return undefined;
  } catch (error) {
    if (error instanceof CaseFailure) return error.message;
    throw error;
  }
}

/** Short and quiet, so that what an engine does with it, it does with every such session. */
const QUIET: Script = {
  host: ORDINARY,
  steps: ([["long", "plain"], [], ["plain"]] as const).map((calls) => ({
    ...{ do: "turn", says: "plain", answers: "plain", ends: "told", heartbeat: false, in: 0 },
    tools: calls.length === 0 ? [] : [calls],
  })),
};

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

/** By the calls of one engine under test: what it does is seen once. */
const known = new WeakMap<object, Promise<Traits>>();

function observe(context: CaseContext): Promise<Traits> {
  const before = known.get(context.calls);
  if (before !== undefined) return before;
  const traits = watch(context);
  known.set(context.calls, traits);
  return traits;
}

async function watch(context: CaseContext): Promise<Traits> {
  let traits = UNKNOWN;
  const during = async (script: Script, work: (stage: Stage) => Promise<Partial<Traits>>) => {
    try {
      await context.beside(async (fresh) => {
        const seen = await work(new Stage(fresh, script.host, traits));
        traits = { ...traits, ...seen };
      });
    } catch (error) {
      if (error instanceof CaseFailure) throw new SessionFailure(error.message, script);
      throw error;
    }
  };
  await during(QUIET, (stage) => learnTraits(stage, QUIET));
  await during(VARIED, (stage) => learnFields(stage, VARIED));
  return traits;
}
