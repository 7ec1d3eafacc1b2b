// Learns what is left of a session when the process of an engine is killed.
import { sleep } from "../../abort.ts";
import type { AgentMessage } from "../../contract/message.ts";
import type { CaseStorage } from "../case-storage.ts";
import { doStep } from "./host.ts";
import { isPlain, named } from "./judge-view.ts";
import { keptOf } from "./kept.ts";
import { placesOf } from "./place.ts";
import type { Script } from "./script.ts";
import { Stage } from "./stage.ts";
import type { Talk } from "./talk.ts";
import { bootstrap } from "./tell.ts";

/** What an engine had, and what one that was made after a kill had of it. */
export interface Kill {
  had: number;
  /** Zero: nothing was left. */
  left: number;
  /** The first message that was lost. Absent: none was. */
  lost?: AgentMessage;
}

/** What came of one session in which the engine was killed now and then. */
export interface Outlived {
  kills: readonly Kill[];
  /** Whether anything ever came back, be it late or after `dispose`. */
  lasts: boolean;
}

/** What is put off to a timer is done by then, ms. */
const PATIENCE_MS = 700;

/**
 * Kills are copies of the engine's folder, taken the moment a turn is acknowledged: what the engine
 * writes later is not in them. Where the folder is not what it stores in, it is made again beside.
 */
export async function outlive(stage: Stage, { steps }: Script): Promise<Outlived> {
  const talk = stage.talk(0);
  const { copy } = stage.context.storage;
  const kills: Kill[] = [];
  let turns = 0;
  stage.doing = "in a session in which it is killed now and then";
  stage.onAcknowledged = async () => {
    turns++;
    if (copy === undefined || !isDue(turns)) return;
    const kill = await killed(stage, talk, copy());
    if (kill !== undefined) kills.push(kill);
  };
  for (const step of steps) await doStep(stage, step);
  stage.onAcknowledged = undefined;
  if (kills.some(({ left }) => left > 0)) return { kills, lasts: true };
  const had = await placesKept(stage, talk);
  if (had.size === 0) return { kills, lasts: false };
  const { engine } = stage;
  const remade = async () => {
    await stage.reopen();
    await bootstrap(stage, talk);
    return killOf(talk, had, await placesKept(stage, talk));
  };
  // Perhaps it stores elsewhere.
  const beside = await remade();
  if (beside.left > 0) return { kills: [beside], lasts: true };
  const all = kills.length > 0 ? kills : [beside];
  const comesBack = async () => {
    const kill = await killed(stage, talk, copy?.(), had);
    return (kill?.left ?? 0) > 0 || (await remade()).left > 0;
  };
  await sleep(PATIENCE_MS);
  if (await comesBack()) return { kills: all, lasts: true };
  // What a dispose throws, another case tells.
  await Promise.resolve(engine.dispose?.()).catch(() => {});
  return { kills: all, lasts: await comesBack() };
}

/** The first ones, since much may be put off from the first to a later one; then some. */
const isDue = (turn: number) => turn <= 5 || turn % 3 === 1;

/** Undefined: the folder could not be copied. */
async function killed(
  stage: Stage,
  talk: Talk,
  storage: CaseStorage | undefined,
  known?: ReadonlySet<number>,
): Promise<Kill | undefined> {
  if (storage === undefined) return undefined;
  const had = known ?? (await placesKept(stage, talk));
  let kill: Kill | undefined;
  await stage.context.beside(
    async (context) => {
      const after = new Stage(context, stage.host, stage.traits);
      after.doing = "made again after a kill";
      await bootstrap(after, talk);
      kill = killOf(talk, had, await placesKept(after, talk));
    },
    { storage },
  );
  return kill;
}

function killOf(talk: Talk, had: ReadonlySet<number>, left: ReadonlySet<number>): Kill {
  const said = talk.transcript.allSaid();
  const lost = [...had].find((place) => !left.has(place) && isPlain(said[place]!));
  return {
    ...{ had: had.size, left: left.size },
    ...(lost !== undefined && { lost: said[lost]! }),
  };
}

async function placesKept(stage: Stage, talk: Talk): Promise<ReadonlySet<number>> {
  const places = placesOf(await keptOf(stage, talk), talk.transcript.allSaid());
  return new Set(places.filter((place) => place !== undefined));
}

/** Of an engine whose record lasts. Undefined = nothing was lost; else a sentence. */
export function lossOf(kills: readonly Kill[]): string | undefined {
  const kill = kills.find(({ lost }) => lost !== undefined);
  return kill?.lost === undefined
    ? undefined
    : `Its record outlives its process, but of ${kill.had} messages it had ${kill.left} when it was killed as soon as it had acknowledged a turn; ${named(kill.lost)} was lost`;
}
