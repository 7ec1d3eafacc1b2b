// Runs a script on an engine step by step, as hosts do.

import { endRun, spawn } from "./children.ts";
import { compact, compactByHost, maintain } from "./compaction.ts";
import { finish } from "./kept.ts";
import { byClock } from "./later.ts";
import { past } from "./past.ts";
import { type Script, type Step, stepInWords } from "./script.ts";
import { detour, look, unchanged } from "./show.ts";
import type { Stage } from "./stage.ts";
import { bootstrap, tellAgain } from "./tell.ts";
import { chat, note, runTurn } from "./turn.ts";

/** Throws a CaseFailure for the first thing that is wrong. */
export const runScript = (stage: Stage, script: Script): Promise<void> => {
  const run = async () => {
    await runSteps(stage, script);
    stage.doing = "in the end";
    for (const talk of stage.all()) await finish(stage, talk);
  };
  return script.steps.some((step) => step.do === "clock") ? byClock(stage.clock, run) : run();
};

/** Of a session that goes on. */
export async function runSteps(stage: Stage, { steps }: Script): Promise<void> {
  for (let at = 0; at < steps.length; ) {
    const together = stage.host.atOnce ? servedTogether(steps.slice(at)) : [steps[at]!];
    const which = together.map((_, index) => at + index + 1).join(" and ");
    stage.doing = `in ${together.length > 1 ? "steps" : "step"} ${which}, ${together.map(stepInWords).join(" beside ")}`;
    // Each session begins before any of them goes on.
    for (const step of together) stage.talk(step.in);
    const doAll = () => Promise.allSettled(together.map((step) => doStep(stage, step)));
    const done = await besideOther(stage, together[0]!, doAll);
    for (const one of done) if (one.status === "rejected") throw one.reason;
    if (stage.host.remakes) await stage.remake();
    at += together.length;
  }
}

export async function doStep(stage: Stage, step: Step): Promise<void> {
  const talk = stage.talk(step.in);
  const { transcript } = talk;
  switch (step.do) {
    case "turn":
      return runTurn(stage, talk, step);
    case "note":
      talk.notes.push(note(step.kind, transcript));
      return;
    case "again":
      return unchanged(stage, talk, "telling a turn twice", () =>
        tellAgain(stage, talk, step.turns),
      );
    case "restart":
      return unchanged(stage, talk, "a crash", async () => {
        await stage.reopen();
        await bootstrap(stage, talk);
        if (step.unsure) await tellAgain(stage, talk);
      });
    case "dispose":
      return unchanged(stage, talk, "dispose()", async () => {
        if (step.goesOn) {
          await stage.dispose();
          stage.forgets();
        } else await stage.remake();
        await bootstrap(stage, talk);
      });
    case "look":
      // An engine may keep to the smallest budget of a turn.
      if (step.budget === stage.host.budget || stage.traits.forgetsBudgets)
        return unchanged(stage, talk, "a look", () => look(stage, talk, step.budget));
      await look(stage, talk, step.budget);
      return;
    case "detour":
      return detour(stage, talk, step.by);
    case "looks":
      if (transcript.items().length === 0) return;
      await Promise.all(step.budgets.map((budget) => look(stage, talk, budget, { isAmong: true })));
      return;
    case "clock":
      return unchanged(stage, talk, "the clock of the machine was set", async () => {
        stage.clock.ms += step.by;
      });
    case "chat":
      return chat(talk, step.turns);
    case "past":
      return past(stage, talk, step.turns);
    case "spawn":
      return spawn(stage, talk, step);
    case "ended":
      return endRun(stage, talk, step);
    case "shrink":
      return compactByHost(talk);
    case "back":
      if (transcript.goBack(step.turns)) talk.forget();
      return;
    case "forth":
      if (transcript.goForth()) talk.forget();
      return;
    case "restore":
      if (transcript.restore(step.turns)) talk.forget();
      return;
    case "rewrite":
      transcript.rewrite();
      talk.readsOtherwise();
      return;
    case "shorten":
      transcript.shorten();
      talk.newest = undefined;
      talk.readsOtherwise();
      return;
    case "redact":
      transcript.redact(step.of);
      talk.newest = undefined;
      talk.readsOtherwise();
      return;
    case "compact":
      return compact(stage, talk, step);
    case "maintain":
      // An engine that put a compaction off makes it now.
      return maintain(stage, talk, true);
    case "new":
      stage.end(step.in, talk);
      return;
    case "move":
      transcript.move(`${transcript.sessionId}-moved`);
      talk.beginsAgain();
      return;
    case "fork":
      stage.begin(step.in + 1, stage.transcript(transcript));
      return;
  }
}

/** Runs `work` between two looks at a session that it has nothing to do with. */
async function besideOther<Result>(
  stage: Stage,
  step: Step,
  work: () => Promise<Result>,
): Promise<Result> {
  const other = stage.host.watches ? stage.other(step.in) : undefined;
  if (other === undefined) return work();
  let result: Result | undefined;
  await unchanged(stage, other, "something was done in another session", async () => {
    result = await work();
  });
  return result!;
}

/** Those of the first steps that different sessions can be served at the same time. */
function servedTogether(steps: readonly Step[]): readonly Step[] {
  const first = steps[0]!;
  const served = new Set<number>();
  const end = steps.findIndex((step) => {
    const isOther = !served.has(step.in);
    served.add(step.in);
    return !isOther || (step.do !== "turn" && step.do !== "look" && step.do !== "maintain");
  });
  return end < 0 ? steps : end === 0 ? [first] : steps.slice(0, end);
}
