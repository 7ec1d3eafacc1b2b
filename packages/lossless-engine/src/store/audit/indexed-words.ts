// Reads what the index of words holds of each message, and what it has to hold.
import { DatabaseSync } from "node:sqlite";
import type { Sql } from "../sql.ts";
import { createFingerprints, type Fingerprints, textHash } from "./fingerprints.ts";

const [ONE, OTHER] = [0x811c9dc5, 0x2545f491];

/** Terms, or places, that are read between two steps. */
const STEP = 256;

/** Terms with the messages that hold them, in the order in which the index has them. */
export function* readWords(sql: Sql, into: Fingerprints): Generator<void> {
  sql(
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.audit_places USING fts5vocab(main, words, instance)",
  ).run();
  const places = sql("SELECT term, doc FROM temp.audit_places");
  places.setReturnArrays(true);
  let [last, one, other, steps] = ["", 0, 0, 0];
  for (const [term, doc] of places.iterate() as unknown as Iterable<readonly unknown[]>) {
    const text = String(term);
    if (text !== last || steps === 0) {
      [one, other] = [textHash(text, ONE), textHash(text, OTHER)];
      last = text;
    }
    into.add(Number(doc), one, other);
    if (++steps % STEP === 0) yield;
  }
}

/** FTS5 numbers pages by segment, kind and place; from here on they say what was deleted. */
const SEGMENT = 2 ** 37;
const KIND = 2 ** 31;
const DELETED = 65_536 * SEGMENT;

/**
 * Whether a term is found is up to a table of the first term of each page, of which SQLite's own
 * check sees what is wrong, and not what is gone. Pages that no term begins on are in it neither.
 */
export function* unlistedPages(sql: Sql): Generator<number | undefined> {
  const pages = sql(`
    SELECT id, length(block) AS bytes, substr(block, 3, 2) AS head FROM words_data
    WHERE id >= ${SEGMENT} AND id < ${DELETED} ORDER BY id
  `);
  let segment = -1;
  let listed = new Set<number>();
  const listedOf = sql("SELECT pgno >> 1 AS page FROM words_idx WHERE segid = ?");
  for (const row of pages.iterate()) {
    const id = Number(row.id);
    if (Math.floor(id / SEGMENT) !== segment) {
      segment = Math.floor(id / SEGMENT);
      listed = new Set(listedOf.all(segment).map(({ page }) => Number(page)));
    }
    const page = id % SEGMENT;
    const head = row.head as Uint8Array;
    const endOfTexts = (head[0] ?? 0) * 256 + (head[1] ?? 0);
    const hasTerm = endOfTexts < Number(row.bytes);
    yield page < KIND && hasTerm && !listed.has(page) ? id : undefined;
  }
}

/** What a fresh index of the same kind holds of some messages. */
export interface FreshWords {
  /** Texts by the numbers of their messages; sizes as the index keeps them. */
  of(texts: ReadonlyMap<number, string>): {
    readonly found: Fingerprints;
    readonly sizes: ReadonlyMap<number, Uint8Array>;
  };
  close(): void;
}

/** `definition`: the statement that made the index. */
export function createFreshWords(definition: string, newest: number): FreshWords {
  const db = new DatabaseSync(":memory:");
  db.exec(definition);
  db.exec("CREATE VIRTUAL TABLE places USING fts5vocab(words, instance)");
  const insert = db.prepare("INSERT INTO words (rowid, text) VALUES (?, ?)");
  const places = db.prepare("SELECT term, doc FROM places");
  places.setReturnArrays(true);
  const sizesOf = db.prepare("SELECT id, sz FROM words_docsize");
  const found = createFingerprints(newest);
  return {
    of(texts) {
      db.exec("BEGIN");
      for (const [message, text] of texts) {
        insert.run(message, text);
        found.clear(message);
      }
      for (const [term, doc] of places.iterate() as unknown as Iterable<readonly unknown[]>) {
        const text = String(term);
        found.add(Number(doc), textHash(text, ONE), textHash(text, OTHER));
      }
      const sizes = new Map(
        sizesOf.all().map(({ id, sz }) => [Number(id), sz as Uint8Array] as const),
      );
      db.exec("INSERT INTO words (words) VALUES ('delete-all'); COMMIT");
      return { found, sizes };
    },
    close: () => db.close(),
  };
}
