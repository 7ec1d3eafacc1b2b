// Checks what an engine has kept of a session.
import type { AgentMessage } from "../../contract/message.ts";
import { messageId } from "../../transcript/message-id.ts";
import { textOf } from "../../transcript/text.ts";
import { LEAST_WORDS } from "./content.ts";
import { recordFault } from "./judge-record.ts";
import { isReadable, recordOf } from "./record.ts";
import { look, same } from "./show.ts";
import { type Stage, strangeIn } from "./stage.ts";
import type { Talk } from "./talk.ts";
import { bootstrap, catchUp } from "./tell.ts";

export const keptOf = (stage: Stage, talk: Talk): Promise<readonly AgentMessage[]> =>
  recordOf(stage.engine, stage.ref(talk));

/** What the engine was told of the session, to judge a record by. */
export function toldOf(stage: Stage, talk: Talk) {
  const { transcript, owed } = talk;
  const said = transcript.allSaid();
  // Without ids nothing tells what short words in a record stand for.
  const { ids, times } = stage.host;
  const canBeTold = (message: AgentMessage) =>
    ids || (times && isReadable(stage.engine)) || textOf(message).length >= LEAST_WORDS;
  // What was told reads otherwise by now, and without an id nothing says that it is the same.
  const isRewritten = (message: AgentMessage) =>
    transcript.withdrawn.has(transcript.idOf(message)!);
  const places = new Set(
    said.flatMap((message, at) =>
      owed.has(transcript.idOf(message)!) && canBeTold(message) && !isRewritten(message)
        ? [at]
        : [],
    ),
  );
  return {
    said,
    versionsOf: transcript.everOf,
    owed: places,
    strange: strangeIn(transcript),
    strictness: keepsResults(stage) ? ("whole" as const) : ("results" as const),
    loses: keepsResults(stage) ? stage.traits.loses : undefined,
  };
}

/** What is shown of a record may be cut as other views are. */
const keepsResults = ({ traits, engine }: Stage) => traits.keepsResults || isReadable(engine);

/** What it said of messages that nobody had told it before, it keeps by then. */
function checkCounts(stage: Stage, { counts }: Talk, record: readonly AgentMessage[]): void {
  // What it did not take in it may have read in the file later.
  if (stage.host.files && typeof stage.engine.bootstrap === "function") return;
  const kept = new Set(record.map(messageId));
  for (const { ids, counted } of counts) {
    const has = ids.filter((id) => kept.has(id)).length;
    if (has > counted)
      stage.fail(
        "its answer to what it was told",
        `counted ${counted} new messages, and it has ${has} of them that nobody had told it before`,
      );
  }
}

/** What it was told last it has by then, also where a file would tell it that later. */
async function checkNewest(stage: Stage, talk: Talk): Promise<void> {
  // Another engine may have only what it read.
  if (talk.newest === undefined || talk.bootstrappedIn !== stage.lives) return;
  const told = toldOf(stage, talk);
  const newest = new Set(talk.newest.ids);
  const owed = [...told.owed].filter((at) => newest.has(talk.transcript.idOf(told.said[at]!)!));
  const fault = recordFault(await keptOf(stage, talk), {
    ...{ ...told, owed: new Set(owed), isWhole: true },
  });
  if (fault !== undefined) stage.fail("its record", `${fault}, as soon as it was told of it`);
}

/** What must hold of every session in the end, before and after one more crash. */
export async function finish(stage: Stage, talk: Talk): Promise<void> {
  const { traits, host } = stage;
  if (talk.transcript.items().length === 0) return;
  const isWhole = traits.keepsAll && (!talk.isCompacted || isReadable(stage.engine));
  if (isWhole) await checkNewest(stage, talk);
  await bootstrap(stage, talk);
  await catchUp(stage, talk);
  const before = await look(stage, talk, host.budget);
  const fault = recordFault(await keptOf(stage, talk), { ...toldOf(stage, talk), isWhole });
  if (fault !== undefined) stage.fail("its record", fault);
  checkCounts(stage, talk, await keptOf(stage, talk));
  await stage.reopen();
  await bootstrap(stage, talk);
  const { imported } = await bootstrap(stage, talk);
  if (imported > 0)
    stage.fail("bootstrap()", `took in ${imported} messages of a file that it had just read`);
  same(stage, before, await look(stage, talk, host.budget), "the last crash");
  const lost = recordFault(await keptOf(stage, talk), {
    ...toldOf(stage, talk),
    isWhole: isWhole && stage.persists(),
  });
  if (lost !== undefined) stage.fail("its record after a crash", lost);
}
