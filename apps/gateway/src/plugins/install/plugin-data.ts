// Finds the files that a plugin keeps, and copies them while it may be writing.
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, isAbsolute, join, normalize, sep } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import type { PluginManifest } from "@clew/plugin-sdk/host";
import { describeBytes } from "../../limits/size.ts";
import { agentFolder, agentPaths } from "../../sessions/paths.ts";
import { dataFolder } from "../load/own-home.ts";

/** A folder or file of a plugin. */
export interface DataPlace {
  /** Absolute. */
  path: string;
  /** Its name in a copy, with "/". */
  name: string;
}

/** The plugin's own folder, and what its manifest names in the folders of agents. */
export function dataPlaces(
  home: string,
  manifest: PluginManifest,
  others: readonly PluginManifest[],
): DataPlace[] {
  const own = { path: dataFolder(home, manifest.id), name: "own" };
  const { named } = planNamedData(manifest, others);
  const ofAgents = agentsOf(home).flatMap((agentId) =>
    named.map((relativePath): DataPlace => {
      const folder = agentFolder(home, agentId);
      const name = `agents/${agentId}/${relativePath}`;
      return { path: join(folder, relativePath), name };
    }),
  );
  return [own, ...ofAgents].filter(({ path }) => lstatSync(path, { throwIfNoEntry: false }));
}

/** What Clew keeps in the folder of an agent. */
const OF_CLEW: ReadonlySet<string> = new Set(
  Object.values(agentPaths("", "x")).map((path) => path.split(sep)[2]!),
);

/**
 * Pure. The paths below an agent's folder that a manifest names and that are the plugin's own, and
 * sentences about those that are not.
 */
export function planNamedData(
  { id, backupResources = [] }: PluginManifest,
  others: readonly PluginManifest[],
): { named: string[]; leftOut: string[] } {
  const of = pathsNamed(backupResources);
  const taken = others.flatMap((other) =>
    other.id === id
      ? []
      : [other.id, ...pathsNamed(other.backupResources ?? [])].map((path) => ({
          by: other.id,
          path,
        })),
  );
  const named: string[] = [];
  const leftOut: string[] = [];
  for (const given of of) {
    const path = normalize(given).replace(/[\\/]+$/, "");
    const fault = faultOf(path, id, taken);
    if (fault === null) named.push(path);
    else
      leftOut.push(
        `Of what plugin "${id}" names under backupResources, ${JSON.stringify(given)} is left out, because it ${fault}.`,
      );
  }
  return { named, leftOut };
}

type Resources = NonNullable<PluginManifest["backupResources"]>;

const pathsNamed = (resources: Resources): string[] =>
  resources.flatMap(({ disposition, scope, relativePath }) =>
    disposition !== "exclude" && scope === "agent" && relativePath !== undefined
      ? [relativePath]
      : [],
  );

function faultOf(
  path: string,
  id: string,
  taken: readonly { by: string; path: string }[],
): string | null {
  // Some systems take letters of either size for the same.
  const [first = "", ...rest] = path.toLowerCase().split(/[\\/]/);
  if (isAbsolute(path) || first === ".." || first === "" || first === ".")
    return "does not lie within an agent's folder";
  if (OF_CLEW.has(first)) return "is Clew's";
  const lower = [first, ...rest].join("/");
  const isOwn = first === id.toLowerCase();
  const other = taken.find(({ path: theirs }) => {
    const those = normalize(theirs)
      .replace(/[\\/]+$/, "")
      .toLowerCase();
    return lower === those || lower.startsWith(`${those}/`) || those.startsWith(`${lower}/`);
  });
  return other === undefined || isOwn ? null : `belongs to plugin "${other.by}"`;
}

/** Of files that take less of the disk than they say they hold. */
const MOST_HOLES = 1024 ** 3;

/** Bytes that were copied. A database is copied as it is at one moment, whoever has it open. */
export async function copyData(places: readonly DataPlace[], into: string): Promise<number> {
  let bytes = 0;
  for (const { path, name } of places) bytes += await copyTree(path, join(into, name));
  return bytes;
}

async function copyTree(from: string, to: string): Promise<number> {
  const stats = lstatSync(from);
  if (stats.isSymbolicLink()) {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    symlinkSync(readlinkSync(from), to);
    return 0;
  }
  if (stats.isDirectory()) {
    mkdirSync(to, { recursive: true, mode: 0o700 });
    let bytes = 0;
    for (const name of readdirSync(from).filter((each) => !isJournal(from, each)))
      bytes += await copyTree(join(from, name), join(to, name));
    return bytes;
  }
  // Sockets lead to whoever listens.
  if (!stats.isFile()) return 0;
  if (stats.size > MOST_HOLES && stats.blocks * 512 < stats.size / 2)
    throw new Error(`${from} would be copied with all its holes, ${describeBytes(stats.size)}`);
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  if (isDatabase(from)) await copyDatabase(from, to);
  else copyFileSync(from, to, constants.COPYFILE_FICLONE);
  return lstatSync(to).size;
}

async function copyDatabase(from: string, to: string): Promise<void> {
  const database = new DatabaseSync(from, { readOnly: true });
  try {
    await backup(database, to);
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  } finally {
    database.close();
  }
}

/** What stands in a journal is in the copy of its database. */
function isJournal(folder: string, name: string): boolean {
  const database = /^(.+)-(?:wal|shm|journal)$/.exec(name)?.[1];
  return database !== undefined && isDatabase(join(folder, database));
}

const SQLITE = "SQLite format 3\0";

function isDatabase(file: string): boolean {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) return false;
  const start = Buffer.alloc(SQLITE.length);
  const handle = openSync(file, "r");
  try {
    return readSync(handle, start) === SQLITE.length && start.toString("latin1") === SQLITE;
  } finally {
    closeSync(handle);
  }
}

function agentsOf(home: string): string[] {
  const folder = join(home, "agents");
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}
