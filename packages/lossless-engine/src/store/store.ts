// Opens each database once per process and closes it when its last user is done.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { StatementSync } from "node:sqlite";
import { connect, freeBeside, IN_MEMORY, isWritableNow } from "./connect.ts";
import { storageFailure } from "./failure.ts";
import { type CopyOptions, copyDatabase, type Snapshot, takeSnapshot } from "./snapshot.ts";
import type { Sql } from "./sql.ts";

export type { Sql };
export { IN_MEMORY };

/** One open database. Everything it throws is one sentence for people, or not SQLite's. */
export interface Store {
  /** Absolute path of the database file. */
  readonly path: string;
  /** True: new texts are kept compressed. */
  readonly compresses: boolean;
  /** What tells the file in use from another one, as there is when the first was moved away. */
  fileInUse(): string;
  /** One question: everything `ask` reads is of one moment. */
  read<Answer>(ask: (sql: Sql) => Answer): Answer;
  /** One change: all that `make` writes is stored, or nothing of it when it throws. */
  change<Answer>(make: (sql: Sql) => Answer): Answer;
  /** Moves what was written lately from the journal to its place, as far as nobody reads there. */
  settle(): void;
  /** Writes all pages anew: none of them holds what was deleted; the journal may. */
  rewrite(): void;
  /** False: somebody reads there, and the journal is not empty. */
  emptyJournal(): boolean;
  /** All of it as it is now, however long that is looked at; whoever takes it closes it. */
  snapshot(): Snapshot;
  /** Copies all of it, as it is now, to a new file, which is there when all of it is. */
  copyTo(file: string, options?: CopyOptions): Promise<void>;
}

/** The use of a store, until it is released. */
export interface StoreUse {
  readonly store: Store;
  /** Gives the use up; once is enough. The database is closed with its last use. */
  release(): void;
}

interface OpenStore {
  store: Store;
  users: number;
  close(): void;
}

/** By path: engines come and go with every turn in some hosts, and several serve one file. */
const open = new Map<string, OpenStore>();

/**
 * Creates the file, and its folder, where there is none. `compresses` holds for all users of a file
 * until the last is done.
 */
export function useStore(file: string, { compresses = false } = {}): StoreUse {
  if (file === IN_MEMORY) {
    const { store, close } = openStore(IN_MEMORY, false);
    return { store, release: close };
  }
  const path = resolve(file);
  const used = open.get(path) ?? openStore(path, compresses);
  open.set(path, used);
  used.users++;
  let isReleased = false;
  return {
    store: used.store,
    release() {
      if (isReleased) return;
      isReleased = true;
      if (--used.users > 0) return;
      open.delete(path);
      used.close();
    },
  };
}

function openStore(path: string, compresses: boolean): OpenStore {
  const failure = (error: unknown) => storageFailure(path, error);
  const orFail = <Answer>(work: () => Answer): Answer => {
    try {
      return work();
    } catch (error) {
      throw failure(error);
    }
  };
  let db = orFail(() => connect(path));
  let file = fileAt(path);
  const statements = new Map<string, StatementSync>();
  const sql: Sql = (text) => {
    const known = statements.get(text) ?? db.prepare(text);
    statements.set(text, known);
    return known;
  };
  const close = () => {
    statements.clear();
    if (db.isOpen) db.close();
  };
  /** Who deletes or moves a file does not tell: what is written to it from then on is lost. */
  const follow = () => {
    const isThere = db.isOpen && fileAt(path) === file;
    if (isThere) return;
    close();
    db = connect(path);
    file = fileAt(path);
  };
  const once = <Answer>(begin: string, work: (sql: Sql) => Answer): Answer => {
    try {
      sql(begin).run();
      const answer = work(sql);
      sql("COMMIT").run();
      return answer;
    } catch (error) {
      if (db.isTransaction) sql("ROLLBACK").run();
      throw error;
    }
  };
  const transaction = <Answer>(begin: string, work: (sql: Sql) => Answer): Answer =>
    orFail(() => {
      try {
        follow();
        return once(begin, work);
      } catch (error) {
        if (!isWritableNow(path, error)) throw error;
        // It was opened when it could only be read.
        close();
        freeBeside(path);
        db = connect(path);
        return once(begin, work);
      } finally {
        // A call that outlives the last use of the file leaves nothing open behind it.
        if (used.users === 0 && path !== IN_MEMORY) close();
      }
    });
  const used: OpenStore = {
    store: {
      ...{ path, compresses },
      fileInUse() {
        orFail(follow);
        return file;
      },
      read: (ask) => transaction("BEGIN", ask),
      change: (make) => transaction("BEGIN IMMEDIATE", make),
      settle: () =>
        orFail(() => {
          if (db.isOpen) sql("PRAGMA wal_checkpoint(PASSIVE)").get();
        }),
      rewrite: () =>
        orFail(() => {
          follow();
          db.exec("VACUUM");
        }),
      emptyJournal: () =>
        orFail(() => {
          const told = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
          return Number(told?.busy) === 0;
        }),
      snapshot: () =>
        orFail(() => {
          follow();
          return takeSnapshot(path, db);
        }),
      async copyTo(file, options) {
        orFail(follow);
        await copyDatabase({ path, own: db, file }, options);
      },
    },
    users: 0,
    close,
  };
  return used;
}

/** What tells it from another file in its place. */
function fileAt(path: string): string {
  if (path === IN_MEMORY) return IN_MEMORY;
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "none" : `${found.dev} ${found.ino} ${found.birthtimeMs}`;
}
