// Learns from two sessions what an engine does, before anything is asked of it.
import type { AgentMessage } from "../../contract/message.ts";
import { estimateMessages } from "../../tokens/message.ts";
import { differs, type Strictness } from "./content.ts";
import { droppedIn } from "./fields.ts";
import { doStep } from "./host.ts";
import { recordFault } from "./judge-record.ts";
import { isPlain } from "./judge-view.ts";
import { keptOf, toldOf } from "./kept.ts";
import { placesOf } from "./place.ts";
import type { Script } from "./script.ts";
import { look } from "./show.ts";
import type { Stage } from "./stage.ts";
import { type Traits, UNKNOWN } from "./traits.ts";

/** What the engine does with a session in which nothing happens. */
export async function learnTraits(stage: Stage, { steps }: Script): Promise<Traits> {
  stage.doing = "in a short and quiet session";
  for (const step of steps) await doStep(stage, step);
  const talk = stage.talk(0);
  const shown = await look(stage, talk, null);
  const said = talk.transcript.history().filter(isPlain);
  const owed = new Set(said.keys());
  const isAll = (messages: readonly AgentMessage[], strictness: Strictness = "results") =>
    recordFault(messages, { ...toldOf(stage, talk), said, owed, isWhole: true, strictness }) ===
    undefined;
  const kept = await keptOf(stage, talk);
  const showsAll = isAll(shown.messages);
  const keepsAll = isAll(kept);
  const some = kept.filter((message) => message.role !== "compactionSummary");
  if (showsAll && !keepsAll && some.length > 0)
    stage.fail(
      "its record",
      recordFault(kept, { ...toldOf(stage, talk), isWhole: true }) ?? "is not whole",
    );
  if (keepsAll && talk.denied.size === said.length)
    stage.fail("ingest()", "said of every message that it did not take it in, and keeps them all");
  const size = estimateMessages(said).high;
  const rooms = [1.3, 1.02, 0.9, 0.5].map((part) => Math.ceil(size * part));
  const looks = async () => {
    const views: unknown[] = [];
    for (const room of [...rooms, null]) views.push((await look(stage, talk, room)).messages);
    return views;
  };
  const before = await looks();
  const least = await look(stage, talk, 1);
  const saysOverflow = least.promptAuthority === "preassembly_may_overflow";
  let forgetsBudgets = !differs(await looks(), before);
  for (const room of [60, 250, 600, Math.ceil(size / 4)]) {
    await look(stage, talk, room);
    forgetsBudgets &&= !differs(await looks(), before);
  }
  const keepsResults = isAll(kept, "whole");
  const { usual } = talk;
  return {
    ...UNKNOWN,
    ...{ showsAll, keepsAll, keepsResults, saysOverflow, forgetsBudgets, usual },
  };
}

/** What it leaves out of messages of every sort. */
export async function learnFields(
  stage: Stage,
  { steps }: Script,
): Promise<Pick<Traits, "drops" | "loses">> {
  stage.doing = "in a session with all sorts of messages";
  for (const step of steps) await doStep(stage, step);
  const talk = stage.talk(0);
  const said = talk.transcript.allSaid();
  const shown = await look(stage, talk, null);
  const [drops, loses] = [shown.messages, await keptOf(stage, talk)].map((messages) =>
    droppedIn(messages, placesOf(messages, said), said),
  );
  return { drops: drops!, loses: loses! };
}
