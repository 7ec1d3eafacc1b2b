// Reads a database as it stands, of whichever version, and leaves nothing beside it.
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { unchanging } from "./connect.ts";
import { storageError, storageFailure } from "./failure.ts";
import { APPLICATION_ID } from "./migrations.ts";
import type { Sql } from "./sql.ts";

/** A database that is looked into. */
export interface Look {
  readonly sql: Sql;
  close(): void;
}

/** Throws STORAGE_FAILED where it is none of ours. */
export function lookInto(path: string): Look {
  let db: DatabaseSync | undefined;
  try {
    db = openToLook(path);
    if (Number(db.prepare("PRAGMA application_id").get()?.application_id) !== APPLICATION_ID)
      throw storageError(`${path} is no database of the lossless engine.`);
    const opened = db;
    return { sql: (text) => opened.prepare(text), close: () => opened.close() };
  } catch (error) {
    db?.close();
    throw storageFailure(path, error);
  }
}

/** Nothing is made beside it, unless somebody has it open. */
export const openToLook = (path: string): DatabaseSync =>
  new DatabaseSync(hasJournal(path) ? path : unchanging(path), { readOnly: true });

/** Whoever has it open, or had it when its process ended, keeps one. */
const hasJournal = (path: string) => existsSync(`${path}-wal`);
