// Keeps the version that an update replaced, with its data, and brings it back.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { writeOwnNow } from "../../home/own-writes.ts";
import { type OfferedAgain, offerAgain } from "../../sessions/offer-again.ts";
import {
  type InstallRecord,
  InstallSchema,
  pluginsFolder,
  readRecords,
  writeRecords,
} from "../find/records.ts";
import { installFailed } from "../invalid.ts";

const KeptSchema = z.object({
  v: z.literal(1),
  record: InstallSchema,
  /** ISO 8601. */
  keptAt: z.string(),
  /** Names of the places whose data was kept, and where they are; null = none was. */
  data: z.array(z.object({ name: z.string(), path: z.string() })).nullable(),
});
export type Kept = z.infer<typeof KeptSchema>;

/** Where the version before an update is: `files`, `data`, `kept.json`. */
export const previousFolder = (home: string, pluginId: string): string =>
  join(pluginsFolder(home), ".previous", pluginId);

/** Undefined: nothing is kept, or nobody can read what. */
export function readKept(home: string, pluginId: string): Kept | undefined {
  try {
    const text = readFileSync(join(previousFolder(home, pluginId), "kept.json"), "utf8");
    return KeptSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Takes the place of whatever was kept before. `staged` holds the data already. */
export function keep(
  home: string,
  pluginId: string,
  { staged, files, kept }: { staged: string; files: string; kept: Kept },
): void {
  const folder = previousFolder(home, pluginId);
  mkdirSync(staged, { recursive: true, mode: 0o700 });
  writeOwnNow(join(staged, "kept.json"), JSON.stringify(kept, null, 2));
  renameSync(files, join(staged, "files"));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
  renameSync(staged, folder);
}

export function forgetKept(home: string, pluginId: string): void {
  const folder = previousFolder(home, pluginId);
  rmSync(folder, { recursive: true, force: true });
  if (existsSync(dirname(folder)) && readdirSync(dirname(folder)).length === 0)
    rmdirSync(dirname(folder));
}

const MoveSchema = z.object({ from: z.string(), to: z.string() });
type Move = z.infer<typeof MoveSchema>;

const JournalSchema = z.object({
  pluginId: z.string(),
  moves: z.array(MoveSchema),
  /** Of what was brought back. */
  record: InstallSchema,
  /** Whose data goes back to which moment; absent = no data does. */
  lost: z.object({ engines: z.array(z.string()), since: z.string() }).optional(),
});
export type RollbackJournal = z.infer<typeof JournalSchema>;

export interface RollbackRequest {
  home: string;
  pluginId: string;
  kept: Kept;
  /** As it is now. */
  current: InstallRecord;
  withData: boolean;
  /** ISO 8601. */
  now: string;
}

/**
 * Which files go where, and what is written of it. What is in use now is kept in the other one's
 * place, so that a second rollback goes forward again. Looks which files are there.
 */
export function planRollback(request: RollbackRequest): { journal: RollbackJournal; next: Kept } {
  const { home, pluginId, kept, current, withData, now } = request;
  const folder = previousFolder(home, pluginId);
  const aside = nextFolder(home, pluginId);
  const files = join(pluginsFolder(home), pluginId);
  const data = withData ? kept.data : null;
  const pairs = [
    { here: files, name: "files" },
    ...(data ?? []).map(({ name, path }) => ({ here: path, name: join("data", name) })),
  ];
  const isThere = ({ from }: Move) => existsSync(from);
  const moves = pairs.flatMap(({ here, name }) =>
    [
      { from: here, to: join(aside, name) },
      { from: join(folder, name), to: here },
    ].filter(isThere),
  );
  return {
    journal: {
      ...{ pluginId, moves, record: kept.record },
      ...((data ?? []).length > 0 && {
        lost: { engines: enginesOf(home, pluginId), since: kept.keptAt },
      }),
    },
    next: { v: 1, record: current, keptAt: now, data },
  };
}

const enginesOf = (home: string, pluginId: string): string[] =>
  Object.entries(readRecords(home).engines).flatMap(([engineId, owner]) =>
    owner === pluginId ? [engineId] : [],
  );

/** From now on it is `finishRollback` that makes it, in this process or after it was killed. */
export function beginRollback(home: string, journal: RollbackJournal, next: Kept): void {
  const aside = nextFolder(home, journal.pluginId);
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  writeOwnNow(join(aside, "kept.json"), JSON.stringify(next, null, 2));
  writeOwnNow(journalFile(home), JSON.stringify(journal));
}

/**
 * Brings one that was begun to its end, and says what engines are offered again because their data
 * went back; only under the lock of installs.
 */
export function finishRollback(home: string): OfferedAgain {
  const file = journalFile(home);
  if (!existsSync(file)) return { messages: 0, sessions: 0 };
  const parsed = JournalSchema.safeParse(JSON.parse(readFileSync(file, "utf8")));
  if (!parsed.success)
    throw installFailed(
      `${file} tells of a rollback that was interrupted and cannot be read; what it moved is below ${dirname(file)}.`,
    );
  return finish(home, parsed.data);
}

function finish(home: string, journal: RollbackJournal): OfferedAgain {
  const { pluginId, record, lost } = journal;
  finishMoves(home, journal);
  const offered = offerAgain(home, lost ?? { engines: [], since: "" });
  const records = readRecords(home);
  // Settings that were changed since are still to be taken back.
  const { changes } = records.plugins[pluginId] ?? record;
  const plugins = { ...records.plugins, [pluginId]: { ...record, changes } };
  writeRecords(home, { ...records, plugins });
  rmSync(journalFile(home), { force: true });
  return offered;
}

/** Each is made once: what it moves is gone then, and where it goes is taken. */
function finishMoves(home: string, { pluginId, moves }: RollbackJournal): void {
  for (const { from, to } of moves) {
    if (!existsSync(from) || existsSync(to)) continue;
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    renameSync(from, to);
  }
  const aside = nextFolder(home, pluginId);
  if (!existsSync(aside)) return;
  rmSync(previousFolder(home, pluginId), { recursive: true, force: true });
  renameSync(aside, previousFolder(home, pluginId));
}

const nextFolder = (home: string, pluginId: string) => `${previousFolder(home, pluginId)}.next`;
const journalFile = (home: string) => join(pluginsFolder(home), ".previous", "rollback.json");
