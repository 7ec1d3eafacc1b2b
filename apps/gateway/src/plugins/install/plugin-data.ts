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
  readSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import type { PluginManifest } from "@clew/plugin-sdk/host";
import { agentFolder } from "../../sessions/paths.ts";
import { isInside } from "../find/manifest.ts";
import { dataFolder } from "../load/own-home.ts";

/** A folder or file of a plugin. */
export interface DataPlace {
  /** Absolute. */
  path: string;
  /** Its name in a copy, with "/". */
  name: string;
}

/** The plugin's own folder, and what its manifest names in the folders of agents. */
export function dataPlaces(home: string, manifest: PluginManifest): DataPlace[] {
  const own = { path: dataFolder(home, manifest.id), name: "own" };
  const named = (manifest.backupResources ?? []).flatMap(({ disposition, scope, relativePath }) =>
    disposition !== "exclude" && scope === "agent" && relativePath !== undefined
      ? [relativePath]
      : [],
  );
  const ofAgents = agentsOf(home).flatMap((agentId) =>
    named.flatMap((relativePath): DataPlace[] => {
      const folder = agentFolder(home, agentId);
      const path = join(folder, relativePath);
      return isInside(folder, path) && path !== folder
        ? [{ path, name: `agents/${agentId}/${relativePath}` }]
        : [];
    }),
  );
  return [own, ...ofAgents].filter(({ path }) => existsSync(path));
}

/** Bytes that were copied. A database is copied as it is at one moment, whoever has it open. */
export async function copyData(places: readonly DataPlace[], into: string): Promise<number> {
  let bytes = 0;
  for (const { path, name } of places) bytes += await copyTree(path, join(into, name));
  return bytes;
}

async function copyTree(from: string, to: string): Promise<number> {
  const stats = lstatSync(from);
  if (stats.isDirectory()) {
    mkdirSync(to, { recursive: true, mode: 0o700 });
    let bytes = 0;
    for (const name of readdirSync(from).filter((each) => !isJournal(from, each)))
      bytes += await copyTree(join(from, name), join(to, name));
    return bytes;
  }
  // Links lead to what is not the plugin's, and sockets to whoever listens.
  if (!stats.isFile()) return 0;
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
