// Opens a database file, to be read at least where it cannot be written.
import { accessSync, chmodSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createFile } from "./create-file.ts";
import { storageError } from "./failure.ts";
import { makeFolder } from "./make-folder.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations.ts";

/** Instead of a file: a database of its own, gone with its only use. */
export const IN_MEMORY = ":memory:";

/**
 * A wait blocks the whole process, so it is short: who finds the database busy asks again later.
 */
const BUSY_MS = 100;
/**
 * A change moves what is in the journal to its place only when there is so much of it: that is done
 * in the background, as a piece of its own.
 */
const JOURNAL_PAGES = 4_000;
const PRAGMAS = `
  PRAGMA journal_mode = WAL;
  PRAGMA wal_autocheckpoint = ${JOURNAL_PAGES};
  PRAGMA synchronous = NORMAL;
  PRAGMA foreign_keys = ON;
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -16384;
`;
/** What SQLite keeps beside a database as long as it is open. */
const BESIDE: readonly string[] = ["-wal", "-shm"];

/** SQLite's primary result codes: permission denied, read-only, cannot be opened. */
const NOT_WRITABLE: ReadonlySet<unknown> = new Set([3, 8, 14]);

/** Creates the file, and its folder, where there is none. */
export function connect(path: string): DatabaseSync {
  if (path === IN_MEMORY) return opened(() => new DatabaseSync(IN_MEMORY), path, PRAGMAS);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw storageError(
      `The lossless engine cannot use its database ${path}: what stands there is no file; name another path.`,
    );
  makeFolder(dirname(path));
  try {
    if (!existsSync(path)) createFile(path);
    return opened(() => new DatabaseSync(path, { timeout: BUSY_MS }), path, PRAGMAS);
  } catch (error) {
    if (!isNotWritable(error) || !existsSync(path)) throw error;
    return connectToRead(path);
  }
}

/**
 * Where SQLite may not even make its files beside the database, nobody else does either: it is read
 * as it stands.
 */
export function connectToRead(path: string): DatabaseSync {
  const ways = [
    () => new DatabaseSync(path, { readOnly: true }),
    () => new DatabaseSync(unchanging(path), { readOnly: true }),
  ];
  for (const open of ways.slice(0, -1))
    try {
      return opened(open, path, "");
    } catch (error) {
      if (!isNotWritable(error)) throw error;
    }
  return opened(ways.at(-1)!, path, "");
}

/** For a file that nobody writes: nothing is locked, and nothing is made beside it. */
export function unchanging(path: string): URL {
  const url = new URL("file:///");
  url.pathname = path.replaceAll("%", "%25");
  url.searchParams.set("immutable", "1");
  return url;
}

function opened(open: () => DatabaseSync, path: string, pragmas: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = open();
    db.exec(pragmas);
    migrate(db, path, MIGRATIONS);
    return db;
  } catch (error) {
    db?.close();
    throw error;
  }
}

/** True: what failed can be tried again on a new connection, as the file can be written by now. */
export function isWritableNow(path: string, error: unknown): boolean {
  return path !== IN_MEMORY && isNotWritable(error) && mayWrite(path) && mayWrite(dirname(path));
}

/** What SQLite left beside a database that could only be read must not be read-only for ever. */
export function freeBeside(path: string): void {
  for (const file of BESIDE.map((suffix) => `${path}${suffix}`))
    if (existsSync(file) && !mayWrite(file)) chmodSync(file, statSync(path).mode);
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const PRIMARY_CODE = 0xff;

const isNotWritable = (error: unknown): boolean =>
  error instanceof Error &&
  "errcode" in error &&
  typeof error.errcode === "number" &&
  NOT_WRITABLE.has(error.errcode & PRIMARY_CODE);
