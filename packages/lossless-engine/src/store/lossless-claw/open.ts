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
import { storageError, storageFailure } from "../failure.ts";
import type { Sql } from "../sql.ts";

/** An open database of another engine. */
export interface ForeignDatabase {
  readonly sql: Sql;
  /** Of the file, with its journal. */
  readonly bytes: number;
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
    if (!isSqlite(path)) throw isNone(path, "it is no SQLite database; name its lcm.db");
    opened = openUntouched(path, scratch);
    const { db } = opened;
    db.exec("BEGIN");
    const tables = tablesIn(db, path);
    if (!TABLES.every((table) => tables.has(table)))
      throw isNone(path, `it has no tables ${TABLES.join(" and ")}; name its lcm.db`);
    const statements = new Map<string, ReturnType<Sql>>();
    const sql: Sql = (text) => {
      const known = statements.get(text) ?? asking(() => db.prepare(text), path);
      statements.set(text, known);
      return known;
    };
    return { sql, bytes: bytesOf(path) + bytesOf(`${path}-wal`), close };
  } catch (error) {
    close();
    throw storageFailure(path, error);
  }
}

const bytesOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

const isNone = (path: string, why: string): ContextEngineError =>
  new ContextEngineError("REQUEST_INVALID", `${path} is no database of lossless-claw: ${why}.`);

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
  if (bytesOf(`${path}-wal`) === 0)
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
    const why = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw storageError(
      `${path} has a journal beside it, so a copy of both is read, and ${scratch} does not take that (${why}); free some space there, or name another folder by TMPDIR.`,
      error,
    );
  }
}

/** By the header: 2 = changes go to a journal beside it first. */
const isWriteAhead = (path: string): boolean => headerOf(path)[19] !== 1;

const MAGIC = Buffer.from("SQLite format 3\0", "latin1");

/** One that is empty has no header yet. */
function isSqlite(path: string): boolean {
  const header = headerOf(path);
  return header.length === 0 || header.subarray(0, MAGIC.length).equals(MAGIC);
}

function headerOf(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(20);
    return header.subarray(0, readSync(file, header, 0, header.length, 0));
  } finally {
    closeSync(file);
  }
}

/**
 * Of what is read nothing but tables: a view, or code of a table, may take for ever. Names in
 * capitals are the same.
 */
function tablesIn(db: DatabaseSync, path: string): ReadonlySet<string> {
  const names = new Set<string>();
  const known = db.prepare("SELECT type, name, rootpage, sql FROM sqlite_schema").all();
  for (const { type, name, rootpage, sql } of known) {
    const table = String(name).toLowerCase();
    if (!READ.has(table) || (type !== "table" && type !== "view")) continue;
    // SQLite writes down so what made it.
    const isMade = String(sql).startsWith("CREATE TABLE ");
    const isPlain = type === "table" && Number(rootpage) > 0 && isMade;
    if (!isPlain || names.has(table)) throw isNone(path, `${String(name)} is no table of it`);
    names.add(table);
  }
  return names;
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
    *iterate(...given: SQLInputValue[]) {
      const rows = guarded(() => statement.iterate(...given));
      for (;;) {
        const { done, value } = guarded(() => rows.next());
        if (done) return;
        yield value;
      }
    },
  } as ReturnType<Sql>;
}

const sourceFailure = (path: string, cause: unknown): ContextEngineError =>
  new ContextEngineError(
    "STORAGE_FAILED",
    `${path} cannot be read (${cause instanceof Error ? cause.message : String(cause)}); mend it with the sqlite3 program (.recover), or migrate a backup of it. What was carried before that stays, and once more carries nothing twice.`,
    { cause },
  );
