// Runs a script on an engine step by step, as hosts do.
import { compact, maintain } from "./compaction.ts";
import { finish } from "./kept.ts";
import { type Script, type Step, stepInWords } from "./script.ts";
import { look, unchanged } from "./show.ts";
import type { Stage } from "./stage.ts";
import { bootstrap, tellAgain } from "./tell.ts";
import { Transcript } from "./transcript.ts";
import { note, runTurn } from "./turn.ts";

/** Throws a CaseFailure for the first thing that is wrong. */
export async function runScript(stage: Stage, { steps }: Script): Promise<void> {
  for (let at = 0; at < steps.length; ) {
    const together = stage.host.atOnce ? servedTogether(steps.slice(at)) : [steps[at]!];
    const which = together.map((_, index) => at + index + 1).join(" and ");
    stage.doing = `in ${together.length > 1 ? "steps" : "step"} ${which}, ${together.map(stepInWords).join(" beside ")}`;
    // Each session begins before any of them goes on.
    for (const step of together) stage.talk(step.in);
    const done = await Promise.allSettled(together.map((step) => doStep(stage, step)));
    for (const one of done) if (one.status === "rejected") throw one.reason;
    if (stage.host.remakes) await stage.remake();
    at += together.length;
  }
  stage.doing = "in the end";
  for (const talk of stage.all()) await finish(stage, talk);
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
      return unchanged(stage, talk, "telling a turn twice", () => tellAgain(stage, talk));
    case "restart":
      return unchanged(stage, talk, "a crash", async () => {
        await stage.reopen();
        await bootstrap(stage, talk);
        if (step.unsure) await tellAgain(stage, talk);
      });
    case "dispose":
      return unchanged(stage, talk, "dispose()", async () => {
        await stage.remake();
        await bootstrap(stage, talk);
      });
    case "look":
      // An engine may keep to the smallest budget of a turn.
      if (step.budget === stage.host.budget)
        return unchanged(stage, talk, "a look", () => look(stage, talk, step.budget));
      await look(stage, talk, step.budget);
      return;
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
      return;
    case "shorten":
      transcript.shorten();
      talk.newest = undefined;
      return;
    case "redact":
      transcript.redact(step.of);
      talk.newest = undefined;
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
      stage.begin(step.in + 1, new Transcript(transcript, undefined, stage.host));
      return;
  }
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
