// Reads and copies a database as it is at one moment, whoever writes to it meanwhile.
import { renameSync, rmSync } from "node:fs";
import { backup, type DatabaseSync, type StatementSync } from "node:sqlite";
import { connectToRead, IN_MEMORY } from "./connect.ts";
import { createFile } from "./create-file.ts";
import { isNoDatabase, storageError, storageFailure } from "./failure.ts";
import { openToLook } from "./look.ts";
import { APPLICATION_ID } from "./migrations.ts";
import type { Sql } from "./sql.ts";

/** One moment of a database. Its journal grows until it is closed. */
export interface Snapshot {
  /** False: others may change it between two questions, as it is in memory. */
  readonly isOfOneMoment: boolean;
  /** Of that moment, however often it is asked. */
  read<Answer>(ask: (sql: Sql) => Answer): Answer;
  close(): void;
}

/** How a copy is made. */
export interface CopyOptions {
  /** Told how many of the pages are copied. Absent: nobody is. */
  readonly onProgress?: ((copied: number, pages: number) => void) | undefined;
  /** Ends it; nothing of the copy is left then. Absent: nothing does. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * One in memory has no second connection: it is read as it stands at each question, so whoever
 * needs one moment has to ask once.
 */
export function takeSnapshot(path: string, own: DatabaseSync): Snapshot {
  const db = path === IN_MEMORY ? own : openMoment(path);
  const statements = new Map<string, StatementSync>();
  const sql: Sql = (text) => {
    const known = statements.get(text) ?? db.prepare(text);
    statements.set(text, known);
    return known;
  };
  return {
    isOfOneMoment: path !== IN_MEMORY,
    read(ask) {
      try {
        return ask(sql);
      } catch (error) {
        throw storageFailure(path, error);
      }
    },
    close() {
      statements.clear();
      if (path !== IN_MEMORY && db.isOpen) db.close();
    },
  };
}

/**
 * The file is there when all of it is. Without a snapshot a copy begins anew at every change that
 * another process makes, so a database at work would never be copied.
 */
export async function copyDatabase(
  { path, own, file }: { path: string; own: DatabaseSync; file: string },
  options: CopyOptions = {},
): Promise<void> {
  const unfinished = `${file}.unfinished`;
  let db: DatabaseSync | undefined;
  try {
    db = path === IN_MEMORY ? own : openMoment(path);
    await copyPages(db, unfinished, options);
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw storageFailure(path, error);
  } finally {
    if (path !== IN_MEMORY && db?.isOpen) db.close();
  }
}

/** Of any version, as it is: `from` is not changed. Throws where it is no database of ours. */
export async function copyOfOurs(from: string, to: string, options: CopyOptions): Promise<void> {
  let db: DatabaseSync | undefined;
  try {
    db = openToLook(from);
    if (Number(db.prepare("PRAGMA application_id").get()?.application_id) !== APPLICATION_ID)
      throw storageError(
        `${from} was not restored: it is no database of the lossless engine; name a backup of one.`,
      );
    await copyPages(db, to, options);
  } catch (error) {
    if (isNoDatabase(error))
      throw storageError(
        `${from} was not restored: it is damaged, or not the whole of a database; restore another backup (clew lossless backups lists them).`,
        error,
      );
    throw storageFailure(from, error);
  } finally {
    db?.close();
  }
}

/** Page by page; others have their turn meanwhile. */
async function copyPages(
  db: DatabaseSync,
  file: string,
  { onProgress, signal }: CopyOptions,
): Promise<void> {
  signal?.throwIfAborted();
  createFile(file);
  await backup(db, file, {
    progress({ totalPages, remainingPages }) {
      signal?.throwIfAborted();
      onProgress?.(totalPages - remainingPages, totalPages);
    },
  });
}

/** Another program's writes are not seen from here on. */
function openMoment(path: string): DatabaseSync {
  const db = connectToRead(path);
  try {
    db.exec("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
