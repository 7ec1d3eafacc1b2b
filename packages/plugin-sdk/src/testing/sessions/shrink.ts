// Finds the smallest session that still fails.
import { ORDINARY, type Script, type Step, type Turn } from "./script.ts";

/**
 * Tries smaller and smaller scripts as long as `fails` and there is time; the smallest that failed,
 * with what it failed by.
 */
export async function shrink<Fault>(
  script: Script,
  fault: Fault,
  fails: (script: Script) => Promise<Fault | undefined>,
  mayGoOn: () => boolean,
): Promise<{ script: Script; fault: Fault }> {
  let smallest = { script, fault };
  for (let found = true; found; ) {
    found = false;
    for (const smaller of smallerThan(smallest.script)) {
      if (!mayGoOn()) return smallest;
      const fault = await fails(smaller);
      if (fault === undefined) continue;
      smallest = { script: smaller, fault };
      found = true;
      break;
    }
  }
  return smallest;
}

/** Smaller by one change each, the boldest first. */
export function* smallerThan({ host, steps }: Script): Generator<Script> {
  for (let size = Math.floor(steps.length / 2); size >= 1; size = Math.floor(size / 2))
    for (let at = steps.length - size; at >= 0; at -= size)
      yield { host, steps: [...steps.slice(0, at), ...steps.slice(at + size)] };
  // A turn fewer, and one fewer that is left.
  for (const [at, step] of steps.entries())
    if (step.do === "back" && step.turns > 1)
      for (let turn = at - 1; turn >= 0; turn--)
        if (steps[turn]!.do === "turn")
          yield {
            host,
            steps: steps.with(at, { ...step, turns: step.turns - 1 }).toSpliced(turn, 1),
          };
  for (const key of Object.keys(ORDINARY) as (keyof typeof ORDINARY)[])
    if (host[key] !== ORDINARY[key] && !(key === "files" && !host.ids))
      yield { host: { ...host, [key]: ORDINARY[key] }, steps };
  for (const [at, step] of steps.entries())
    for (const simpler of simplerThan(step)) yield { host, steps: steps.with(at, simpler) };
}

function* simplerThan(step: Step): Generator<Step> {
  if (step.in > 0) yield { ...step, in: step.in - 1 };
  if (step.do === "turn") yield* simplerTurns(step);
  if (step.do === "restart" && step.unsure) yield { ...step, unsure: false };
  if ((step.do === "back" || step.do === "restore") && step.turns > 1)
    yield { ...step, turns: step.turns - 1 };
  if (step.do === "look" && step.budget !== null) yield { ...step, budget: null };
  if (step.do === "compact" && !step.model) yield { ...step, model: true };
  if (step.do === "compact" && step.bare) yield { ...step, bare: false };
  if (step.do === "compact" && step.answer !== undefined) {
    const { answer: _answer, ...usual } = step;
    yield usual;
  }
  if (step.do === "again" && step.turns) yield { ...step, turns: step.turns - 1 };
  if ((step.do === "chat" || step.do === "past") && step.turns > 1) {
    yield { ...step, turns: Math.ceil(step.turns / 2) };
    yield { ...step, turns: step.turns - 1 };
  }
  if (step.do === "looks" && step.budgets.length > 1)
    yield { ...step, budgets: step.budgets.slice(1) };
  if (step.do === "note" && step.kind !== "custom") yield { ...step, kind: "custom" };
}

function* simplerTurns(step: Turn & { in: number }): Generator<Step> {
  if (step.tools.length > 0) yield { ...step, tools: [] };
  if (step.tools.length > 1) yield { ...step, tools: step.tools.slice(1) };
  for (const [at, calls] of step.tools.entries()) {
    if (calls.length > 1) yield { ...step, tools: step.tools.with(at, calls.slice(1)) };
    if (calls.some((kind) => kind !== "plain"))
      yield {
        ...step,
        tools: step.tools.with(
          at,
          calls.map(() => "plain" as const),
        ),
      };
  }
  if (step.says !== "plain") yield { ...step, says: "plain" };
  if (step.answers !== "plain") yield { ...step, answers: "plain" };
  if (step.ends !== "told") yield { ...step, ends: "told" };
  if (step.heartbeat) yield { ...step, heartbeat: false };
}
