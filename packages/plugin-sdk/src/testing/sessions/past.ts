// Begins a session that was there before its engine, which reads it in the file.

import { recordFault } from "./judge-record.ts";
import { keptOf, toldOf } from "./kept.ts";
import type { Script } from "./script.ts";
import type { Stage } from "./stage.ts";
import type { Talk } from "./talk.ts";
import { bootstrap } from "./tell.ts";
import type { Traits } from "./traits.ts";
import { shortTurn } from "./turn.ts";

/** What an engine takes in of a short session, it owes of a long one, unless it says why not. */
export async function past(stage: Stage, talk: Talk, turns: number): Promise<void> {
  const { transcript } = talk;
  const isFirst = transcript.items().length === 0;
  for (let turn = 0; turn < turns; turn++) shortTurn(transcript);
  const { reason } = await bootstrap(stage, talk);
  const isOwed = isFirst && stage.host.files && stage.traits.takesPast && !reason?.trim();
  if (isOwed) for (const { id } of transcript.items()) talk.owed.add(id);
}

/** Whether it takes such a session in. */
export async function learnPast(
  stage: Stage,
  { steps }: Script,
): Promise<Pick<Traits, "takesPast">> {
  stage.doing = "in a session that was there before it";
  const talk = stage.talk(0);
  for (const step of steps) if (step.do === "past") await past(stage, talk, step.turns);
  const told = toldOf(stage, talk);
  const owed = new Set(told.said.keys());
  const fault = recordFault(await keptOf(stage, talk), { ...told, owed, isWhole: true });
  return { takesPast: told.said.length > 0 && fault === undefined };
}
