// Puts one database in another's place, and keeps what stood there.
import { copyFileSync, existsSync, linkSync, renameSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { isBusy, storageFailure } from "./failure.ts";

/** Journals that SQLite keeps beside a database which is open, or was when its process ended. */
const BESIDE: readonly string[] = ["-wal", "-shm"];

/** True: a connection to it is open somewhere. One that is damaged is in nobody's use. */
export function isInUse(path: string): boolean {
  if (!existsSync(path)) return false;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: 0 });
    db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK");
    return false;
  } catch (error) {
    return isBusy(storageFailure(path, error));
  } finally {
    db?.close();
  }
}

/**
 * Of a process that is killed here either the one or the other database is in its place, whole.
 * Gives where the old one is; null = there was none.
 */
export function replaceDatabase(path: string, by: string, keptAs: string): string | null {
  const isThere = existsSync(path);
  // Closing the last connection moves the journal into the file, unless that is damaged.
  if (isThere) closeOrderly(path);
  for (const suffix of BESIDE)
    if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${keptAs}${suffix}`);
  if (isThere) keep(path, keptAs);
  renameSync(by, path);
  return isThere ? keptAs : null;
}

function closeOrderly(path: string): void {
  try {
    const db = new DatabaseSync(path, { timeout: 0 });
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    db.close();
  } catch {}
}

function keep(path: string, keptAs: string): void {
  try {
    linkSync(path, keptAs);
  } catch {
    // Some file systems have no links.
    copyFileSync(path, keptAs);
  }
}
