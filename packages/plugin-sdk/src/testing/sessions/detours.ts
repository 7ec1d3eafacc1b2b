// What is left of a view that was asked for with little room, once a turn came after it.
import { runSteps } from "./host.ts";
import { placesOf } from "./place.ts";
import type { Script, Step } from "./script.ts";
import { look } from "./show.ts";
import type { Stage } from "./stage.ts";

type Run = (script: Script, work: (stage: Stage) => Promise<void>) => Promise<string | undefined>;

/**
 * Runs a session with and without its looks at little room; within a turn an engine may keep to the
 * smallest budget. Undefined = what is shown in the end is the same; else a sentence.
 */
export async function detourFault(script: Script, run: Run): Promise<string | undefined> {
  if (!script.steps.some(isTight)) return undefined;
  const numbers = [...new Set(script.steps.map((step) => step.in))];
  const last = numbers.map((number): Step => ({ ...PLAIN, in: number }));
  const endOf = async (steps: readonly Step[]) => {
    const one = { ...script, steps: [...steps, ...last] };
    const shown: string[] = [];
    const fault = await run(one, async (stage) => {
      await runSteps(stage, one);
      for (const number of numbers) {
        const talk = stage.talk(number);
        const { messages } = await look(stage, talk, stage.host.budget);
        shown.push(placesOf(messages, talk.transcript.history(stage.host)).join(" "));
      }
    });
    return { fault, shown };
  };
  const with_ = await endOf(script.steps);
  const without = await endOf(script.steps.filter((step) => !isTight(step)));
  const fault = with_.fault ?? without.fault;
  if (fault !== undefined) return fault;
  return with_.shown.some((places, at) => places !== without.shown[at])
    ? "assemble() showed a session otherwise, turns after it was asked once for a view with little room"
    : undefined;
}

const isTight = (step: Step): boolean => step.do === "detour" && step.by === "budget";

const PLAIN = {
  do: "turn",
  says: "plain",
  tools: [],
  answers: "plain",
  ends: "told",
  heartbeat: false,
} as const;
