// Brings a database to the newest version, with a copy of what it was before.
import { randomUUID } from "node:crypto";
import { renameSync, rmSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { createFile } from "./create-file.ts";
import { storageError } from "./failure.ts";
import { APPLICATION_ID, type Migration } from "./migrations.ts";

/**
 * One transaction each, so that a file is of one version or the next. Throws, and changes nothing,
 * where the file is another program's or of a version that no migration leads on from, or cannot be
 * copied.
 */
export function migrate(db: DatabaseSync, path: string, migrations: readonly Migration[]): void {
  const newest = Math.max(...migrations.map(({ to }) => to));
  refuseForeign(db, path, newest);
  const found = numberOf(db, "user_version");
  for (let from = found; from !== newest; ) {
    const migration = migrations.find((each) => each.from.includes(from));
    if (migration === undefined)
      throw storageError(
        `The lossless engine cannot use its database ${path}: it is of an unknown version, ${from}; move it away, and a new one is filled from the transcripts.`,
      );
    if (found > 0 && from === found) backUp(db, path, from);
    db.exec("BEGIN IMMEDIATE");
    try {
      // Another process may have done it while this one waited.
      if (numberOf(db, "user_version") === from) {
        db.exec(migration.sql);
        migration.run?.((text) => db.prepare(text));
        db.exec(
          `PRAGMA user_version = ${migration.to}; PRAGMA application_id = ${APPLICATION_ID};`,
        );
      }
      db.exec("COMMIT");
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
    from = migration.to;
  }
}

function refuseForeign(db: DatabaseSync, path: string, newest: number): void {
  const isEmpty = db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
  if (!isEmpty && numberOf(db, "application_id") !== APPLICATION_ID)
    throw storageError(
      `The lossless engine cannot use ${path}: another program's database stands there; name another file.`,
    );
  const version = numberOf(db, "user_version");
  if (version > newest)
    throw storageError(
      `The lossless engine cannot use its database ${path}: version ${version} was written by a newer release; install that one.`,
    );
}

/** Beside the database, whole or not at all. */
function backUp(db: DatabaseSync, path: string, version: number): void {
  const unfinished = `${path}.${randomUUID()}`;
  try {
    createFile(unfinished);
    db.prepare("VACUUM INTO ?").run(unfinished);
    renameSync(unfinished, backupPath(path, version));
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** Where the copy of a database of `version` stands. */
export const backupPath = (path: string, version: number): string => `${path}.version-${version}`;

const numberOf = (db: DatabaseSync, pragma: "user_version" | "application_id") =>
  Number(db.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
