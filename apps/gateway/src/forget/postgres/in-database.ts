// Forgets in a database as in files, in a copy of it that is put back.
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { losslessFile } from "../../config/lossless-file.ts";
import { isShared } from "../../costs/share-costs.ts";
import { agentFolder } from "../../sessions/paths.ts";
import { agentsIn, type LeftBehind } from "../../storage/copy/walk-home.ts";
import { idOfHome } from "../../storage/home-id.ts";
import type { LeftFile } from "../clean-files.ts";
import type { Journal } from "../journal.ts";
import { type Asked, matcherOf, type Planned, planHome } from "../plan-home.ts";
import { type ForgettingOptions, type Forgotten, runForgetting } from "../run.ts";
import { scratchOf, scratchRecordFile } from "../scratch-place.ts";
import { wordsThatGo } from "../transcripts.ts";
import { makeScratch, type ScratchRequest } from "./make-scratch.ts";
import { putBack } from "./put-back.ts";
import { type PutBack, readPutBack, type ScratchRecord, writePutBack } from "./scratch-record.ts";

/** What would go from a database. */
export interface PlannedInDatabase {
  readonly record: ScratchRecord;
  /** Files are those of the copy. */
  readonly planned: Planned;
  /** What goes, as it was said. */
  readonly words: readonly string[];
  /** Sessions that nobody could look into. */
  readonly left: readonly LeftFile[];
}

/** Only reads the database. Throws STORAGE_FAILED. */
export async function planInDatabase(
  request: ScratchRequest,
  { asked, agents }: { asked: Asked; agents: readonly string[] | null },
): Promise<PlannedInDatabase> {
  const { record, left } = await makeScratch(request);
  const home = scratchOf(request.home);
  const databases = (await agentsIn(home)).map((agentId) => ({
    file: losslessFile(agentFolder(home, agentId), undefined),
    agents: [agentId],
  }));
  const planned = await planHome({
    ...{ home, asked, agents, dropsBackups: true },
    databases: databases.filter((each) => agents?.includes(each.agents[0]!) ?? true),
    inUse: databases.map(({ file }) => file),
  }).catch((error: unknown) => {
    // The home may have it still.
    if (ContextEngineError.is(error, "SESSION_NOT_FOUND")) return NOTHING;
    throw error;
  });
  const words = await wordsThatGo(home, planned.transcripts);
  return { record, planned, words, left: left.map(notLookedInto) };
}

const NOTHING: Planned = {
  ...{ databases: [], transcripts: [], clients: [], calls: [], backups: [], cleaned: [] },
  ...{ lookedInto: new Set(), leftIn: [] },
};

const notLookedInto = ({ what, why }: LeftBehind): LeftFile => ({
  ...{ file: `${what} in the database`, why: `was not looked into: ${why}` },
});

/** `journals`: what goes from the copy, and from the home itself. */
export async function forgetInDatabase(
  request: ScratchRequest,
  { record, words }: Pick<PlannedInDatabase, "record" | "words">,
  journals: { copy: Journal; home: Journal },
  options: { asked: Asked; except: ReadonlySet<string> },
): Promise<Forgotten> {
  const matcher = matcherOf(options.asked);
  const scratch = scratchOf(request.home);
  const inCopy = await runForgetting(scratch, journals.copy, { matcher });
  const removed = journals.copy.transcripts.flatMap(({ agentId, sessionId, entries }) =>
    entries === null ? [{ agentId, sessionId }] : [],
  );
  const putBack = { record, removed, journal: journals.home };
  await writePutBack(request.home, putBack);
  const done = await finish(request, {
    ...putBack,
    options: { matcher, except: options.except, elsewhere: words },
  });
  return {
    messages: Math.max(inCopy.messages, done.messages),
    leftIn: [...inCopy.leftIn.map((each) => inDatabase(scratch, each)), ...done.leftIn],
  };
}

/** Goes on where a process was killed. Null: nothing was being forgotten in the database. */
export async function resumeInDatabase(request: ScratchRequest): Promise<Forgotten | null> {
  const found = await readPutBack(request.home);
  if (found === null) return null;
  if (found.record.clusterId !== request.copy.clusterId)
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `What was being forgotten when a process ended is in another database than that of the settings; name that one by storage.url, or delete ${scratchOf(request.home)}.`,
    );
  return finish(request, { ...found, options: {} });
}

async function finish(
  request: ScratchRequest,
  { options, journal, ...found }: PutBack & { options: ForgettingOptions },
): Promise<Forgotten> {
  const { home } = request;
  await removeCopies(home);
  const done = await runForgetting(home, journal, options);
  // They name sessions of which this home says nothing any more.
  if (!(await isShared(home))) await request.copy.forgetting.dropCosts(await idOfHome(home));
  const left = await putBack(request, found);
  await removeScratch(home);
  const stays = left.map(({ what, why }) => ({ file: `${what} in the database`, why }));
  return { ...done, leftIn: [...stays, ...done.leftIn] };
}

/** What the gateway of the home opened, and makes again. */
async function removeCopies(home: string): Promise<void> {
  const folder = join(home, "copies");
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries)
    if (entry.isDirectory())
      await rm(join(folder, entry.name), { recursive: true, force: true, maxRetries: 5 });
}

/** First what says that something is to be put back: of half a copy nothing is. */
export async function removeScratch(home: string): Promise<void> {
  await rm(scratchRecordFile(home), { force: true });
  await rm(scratchOf(home), { recursive: true, force: true, maxRetries: 5 });
}

/** As people are told of it. */
export const inDatabase = (scratch: string, left: LeftFile): LeftFile => ({
  ...left,
  file: left.file.startsWith(scratch)
    ? `${left.file.slice(scratch.length + 1)} of the database`
    : left.file,
});
