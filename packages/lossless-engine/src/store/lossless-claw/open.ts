// Opens a database of lossless-claw to be read, and changes neither it nor its journal.
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { unchanging } from "../connect.ts";
import { storageFailure } from "../failure.ts";
import type { Sql } from "../sql.ts";

/** An open database of another engine. */
export interface ForeignDatabase {
  readonly sql: Sql;
  close(): void;
}

/** Tables without which it is none. */
const TABLES: readonly string[] = ["conversations", "messages"];

/**
 * `scratch`: a folder for a copy, where one is needed. Throws FILE_NOT_FOUND, REQUEST_INVALID
 * (another database), STORAGE_FAILED.
 */
export function openLosslessClaw(path: string, scratch: string): ForeignDatabase {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
    throw new ContextEngineError("FILE_NOT_FOUND", `There is no file ${path}; check the path.`);
  let opened: { db: DatabaseSync; folder: string | undefined } | undefined;
  const close = () => {
    if (opened?.db.isOpen) opened.db.close();
    if (opened?.folder !== undefined) rmSync(opened.folder, { recursive: true, force: true });
  };
  try {
    opened = openUntouched(path, scratch);
    const { db } = opened;
    db.exec("BEGIN");
    const known = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    const names = new Set(known.map(({ name }) => String(name)));
    if (!TABLES.every((table) => names.has(table)))
      throw new ContextEngineError(
        "REQUEST_INVALID",
        `${path} is no database of lossless-claw: it has no tables ${TABLES.join(" and ")}; name its lcm.db.`,
      );
    refuseViews(db, path);
    return { sql: (text) => asking(() => db.prepare(text), path), close };
  } catch (error) {
    close();
    throw storageFailure(path, error);
  }
}

/**
 * SQLite makes an index of a journal beside a database that has one. Where that is not there,
 * nobody has the database open, and a copy of both is read; without a journal nothing is made.
 */
function openUntouched(
  path: string,
  scratch: string,
): { db: DatabaseSync; folder: string | undefined } {
  // Without a journal of its own kind it is locked while it is read, and nothing is made beside it.
  if (!isWriteAhead(path))
    return { db: new DatabaseSync(path, { readOnly: true }), folder: undefined };
  const hasJournal = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (!hasJournal)
    return { db: new DatabaseSync(unchanging(path), { readOnly: true }), folder: undefined };
  if (existsSync(`${path}-shm`))
    return { db: new DatabaseSync(path, { readOnly: true }), folder: undefined };
  const folder = mkdtempSync(join(scratch, "lossless-claw-"));
  try {
    const copy = join(folder, basename(path));
    for (const suffix of ["", "-wal"]) copyFileSync(`${path}${suffix}`, `${copy}${suffix}`);
    return { db: new DatabaseSync(copy), folder };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** By the header: 2 = changes go to a journal beside it first. */
function isWriteAhead(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(20);
    readSync(file, header, 0, header.length, 0);
    return header[19] !== 1;
  } finally {
    closeSync(file);
  }
}

/** Of what is read nothing but tables: a view, or code of a table, may take for ever. */
function refuseViews(db: DatabaseSync, path: string): void {
  const [odd] = db
    .prepare(`
      SELECT name FROM sqlite_schema WHERE type = 'view' OR sql LIKE 'CREATE VIRTUAL%'
    `)
    .all()
    .filter(({ name }) => READ.has(String(name)));
  if (odd !== undefined)
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `${path} is no database of lossless-claw: ${odd.name} is no table of it.`,
    );
}

/** Everything that is read of it. */
const READ: ReadonlySet<string> = new Set([
  ...TABLES,
  ...["message_parts", "summaries", "summary_messages", "summary_parents", "large_files"],
  ...["focus_briefs", "conversation_compaction_maintenance", "conversation_compaction_telemetry"],
]);

/** What SQLite throws while it reads names the file and what to do. */
function asking(prepare: () => StatementSync, path: string): ReturnType<Sql> {
  const guarded = <Value>(work: () => Value): Value => {
    try {
      return work();
    } catch (error) {
      throw sourceFailure(path, error);
    }
  };
  const statement = guarded(prepare);
  return {
    get: (...given: SQLInputValue[]) => guarded(() => statement.get(...given)),
    all: (...given: SQLInputValue[]) =>
      guarded(() => {
        const rows = statement.all(...given);
        if (!Array.isArray(rows)) throw new Error("a value is too large");
        return rows;
      }),
  } as ReturnType<Sql>;
}

const sourceFailure = (path: string, cause: unknown): ContextEngineError =>
  new ContextEngineError(
    "STORAGE_FAILED",
    `${path} cannot be read (${cause instanceof Error ? cause.message : String(cause)}); mend it with the sqlite3 program (.recover), or migrate a backup of it. What was carried before that stays, and once more carries nothing twice.`,
    { cause },
  );
