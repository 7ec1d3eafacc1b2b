// Damages a database in one random way, so that tests see that an audit finds it.
import { readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { BUCKETS, eachInBucket, eachInLeaf } from "../store/postings.ts";

/** Numbers from 0 to below `end`, different for each seed. */
export type Dice = (end: number) => number;

/** Pure for one seed: mulberry32. */
export function diceOf(seed: number): Dice {
  let state = seed >>> 0;
  return (end) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  };
}

type Row = Record<string, SQLInputValue>;

const SUMMARY_COLUMNS = [
  ...["conversation", "depth", "parent", "first", "last", "messages", "tokens", "since", "until"],
  ...["days", "words", "model", "created", "hash"],
];

/** Columns that an audit answers for, by table. */
const COLUMNS: readonly (readonly [table: string, key: string, column: string])[] = [
  ...["conversation", "id", "turn", "role", "time", "flags", "body"].map(
    (column) => ["message", "seq", column] as const,
  ),
  ...["hash", "text"].map((column) => ["payload", "id", column] as const),
  ...["conversation", "hash"].map((column) => ["link", "message", column] as const),
  ...["message", "earlier", "conversation", "was", "hash"].map(
    (column) => ["change", "id", column] as const,
  ),
  ...["messages", "turns", "newest", "changed"].map(
    (column) => ["conversation", "id", column] as const,
  ),
  ...SUMMARY_COLUMNS.map((column) => ["summary", "id", column] as const),
  ...["up_to", "hash"].map((column) => ["graph", "conversation", column] as const),
  ["conversation", "id", "summarised"],
  ...["session_id", "session_key", "owner", "conversation", "seal"].map(
    (column) => ["transcript", "id", column] as const,
  ),
  ...["name", "first", "request", "ceiling", "covered", "parts", "record", "ledger"].map(
    (column) => ["cut", "id", column] as const,
  ),
  ...["bytes", "line_bytes", "line_hash", "entry"].map(
    (column) => ["cursor", "transcript", column] as const,
  ),
  ["advancement", "conversation", "key"],
  ...["message", "hash", "expired"].map((column) => ["forgotten", "message", column] as const),
  ...["salt", "stale", "carried", "seal"].map((column) => ["forgetting", "only", column] as const),
  ...["salt", "hash"].map((column) => ["carried", "hash", column] as const),
];
const TABLES = [
  ["message", "seq"],
  ["payload", "id"],
  ["link", "message"],
  ["change", "id"],
  ["conversation", "id"],
  ["summary", "id"],
  ["graph", "conversation"],
  ["forgotten", "message"],
  ["forgetting", "only"],
  ["carried", "hash"],
] as const;
/** Tables of which a row may go: it is made again, or told again. */
const MADE_AGAIN = ["transcript", "cut", "cursor", "advancement"];

/** What was done; undefined: it came to nothing, as nothing of the kind is there. */
export function damage(path: string, dice: Dice): string | undefined {
  const ways = [
    damageRows,
    damageRows,
    damageRows,
    damageIndex,
    damageIndex,
    damageBytes,
    damagePage,
    doublePage,
    damageFreeList,
  ];
  return ways[dice(ways.length)]!(path, dice);
}

function damageRows(path: string, dice: Dice): string | undefined {
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  try {
    const pick = (table: string) =>
      db
        .prepare(`SELECT * FROM ${table} ORDER BY 1 LIMIT 1 OFFSET ?`)
        .get(
          dice(
            Math.max(1, Number(db.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows)),
          ),
        ) as Row | undefined;
    const ways = [
      () => changeColumn(db, pick, dice),
      () => changeColumn(db, pick, dice),
      () => removeRow(db, pick, dice),
      () => doubleMessage(db, pick),
      () => swapMessages(db, pick),
      () => damageEdge(db, pick, dice),
    ];
    return ways[dice(ways.length)]!();
  } finally {
    db.close();
  }
}

type Pick = (table: string) => Row | undefined;

function changeColumn(db: DatabaseSync, pick: Pick, dice: Dice): string | undefined {
  const [table, key, column] = COLUMNS[dice(COLUMNS.length)]!;
  const row = pick(table);
  if (row === undefined) return undefined;
  const value = otherThan(row[column]!, dice);
  try {
    db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${key} = ?`).run(value, row[key]!);
  } catch {
    return undefined;
  }
  return `${table} ${row[key]}: ${column} changed`;
}

/** A value of the same kind, one bit, sign or character of it another. */
function otherThan(value: SQLInputValue, dice: Dice): SQLInputValue {
  if (typeof value === "number") return value ^ (1 << dice(5));
  if (value === null) return 7;
  if (typeof value === "string") {
    const at = dice(value.length);
    const sign = value[at] === "x" ? "y" : "x";
    return value.slice(0, at) + sign + value.slice(at + 1);
  }
  const bytes = Uint8Array.from(value as Uint8Array);
  bytes[dice(bytes.length)]! ^= 1 << dice(8);
  return bytes;
}

function removeRow(db: DatabaseSync, pick: Pick, dice: Dice): string | undefined {
  const [table, key] = TABLES[dice(TABLES.length)]!;
  const row = pick(table);
  if (row === undefined) return undefined;
  db.prepare(`DELETE FROM ${table} WHERE ${key} = ?`).run(row[key]!);
  return `${table} ${row[key]} removed`;
}

function doubleMessage(db: DatabaseSync, pick: Pick): string | undefined {
  const row = pick("message");
  if (row === undefined) return undefined;
  db.prepare(`
    INSERT INTO message (conversation, id, turn, role, time, flags, body)
    SELECT conversation, id || ' again', turn, role, time, flags, body FROM message WHERE seq = ?
  `).run(row.seq!);
  return `message ${row.seq} doubled`;
}

function swapMessages(db: DatabaseSync, pick: Pick): string | undefined {
  const [one, other] = [pick("message"), pick("message")];
  if (one === undefined || other === undefined || one.seq === other.seq) return undefined;
  const move = db.prepare("UPDATE message SET seq = ? WHERE seq = ?");
  move.run(-1, one.seq!);
  move.run(one.seq!, other.seq!);
  move.run(other.seq!, -1);
  return `messages ${one.seq} and ${other.seq} exchanged`;
}

function damageEdge(db: DatabaseSync, pick: Pick, dice: Dice): string | undefined {
  const edge = pick("payload_use");
  if (edge === undefined) return undefined;
  const at = [edge.message!, edge.place!] as const;
  const where = "WHERE message = ? AND place = ?";
  try {
    if (dice(3) === 0) db.prepare(`DELETE FROM payload_use ${where}`).run(...at);
    else {
      const column = (["message", "place", "payload"] as const)[dice(3)]!;
      const value = otherThan(edge[column]!, dice);
      db.prepare(`UPDATE payload_use SET ${column} = ? ${where}`).run(value, ...at);
    }
  } catch {
    return undefined;
  }
  return `an edge of message ${edge.message} damaged`;
}

/** A bit of what a page of the file says of a message or a payload. */
function damageBytes(path: string, dice: Dice): string | undefined {
  const db = new DatabaseSync(path, { readOnly: true });
  const [table, column] = dice(2) === 0 ? ["message", "body"] : ["payload", "text"];
  const rows = db.prepare(`SELECT ${column} AS kept FROM ${table}`).all();
  db.close();
  const row = rows[dice(Math.max(1, rows.length))];
  if (row === undefined) return undefined;
  const kept =
    typeof row.kept === "string" ? Buffer.from(row.kept) : Buffer.from(row.kept as Uint8Array);
  const bytes = readFileSync(path);
  const length = Math.min(24, kept.length);
  const start = dice(kept.length - length + 1);
  const found = bytes.indexOf(kept.subarray(start, start + length));
  if (found < 0) return undefined;
  const at = found + dice(length);
  bytes[at]! ^= 1 << dice(8);
  writeFileSync(path, bytes);
  return `byte ${at} of a text in the file changed`;
}

/** A page of the file stands in the place of another one, too. */
function doublePage(path: string, dice: Dice): string | undefined {
  const bytes = readFileSync(path);
  const size = bytes.readUInt16BE(16) || 65_536;
  const pages = bytes.length / size;
  if (pages < 3) return undefined;
  const [from, to] = [1 + dice(pages - 1), 1 + dice(pages - 1)];
  bytes.copy(bytes, to * size, from * size, (from + 1) * size);
  writeFileSync(path, bytes);
  return from === to ? undefined : `page ${from + 1} copied onto page ${to + 1}`;
}

/** An entry of the free list names another page: what is written next overwrites that. */
function damageFreeList(path: string, dice: Dice): string | undefined {
  const bytes = readFileSync(path);
  const size = bytes.readUInt16BE(16) || 65_536;
  const trunk = bytes.readUInt32BE(32);
  const entries = trunk === 0 ? 0 : bytes.readUInt32BE((trunk - 1) * size + 4);
  if (entries === 0) return undefined;
  const at = (trunk - 1) * size + 8 + 4 * dice(entries);
  const [was, is] = [bytes.readUInt32BE(at), 2 + dice(bytes.length / size - 1)];
  bytes.writeUInt32BE(is, at);
  writeFileSync(path, bytes);
  return was === is ? undefined : `page ${is} listed as free instead of page ${was}`;
}

/** A bit anywhere in the file, but for its first page, which says what kind of file it is. */
function damagePage(path: string, dice: Dice): string | undefined {
  const bytes = readFileSync(path);
  const size = bytes.readUInt16BE(16) || 65_536;
  if (bytes.length <= size) return undefined;
  const at = size + dice(bytes.length - size);
  bytes[at]! ^= 1 << dice(8);
  writeFileSync(path, bytes);
  return `byte ${at} of the file changed`;
}

/** Columns of the tables of the search indexes that say something. */
const INDEX_COLUMNS: readonly (readonly [table: string, key: string, column: string])[] = [
  ["trigram_leaf", "first", "postings"],
  ["trigram_leaf", "first", "first"],
  ["trigram_bucket", "id", "postings"],
  ["trigram_bucket", "id", "id"],
  ["words_data", "id", "block"],
  ["words_docsize", "id", "sz"],
  ["words_docsize", "id", "id"],
  ["words_idx", "rowid", "pgno"],
  ["watermark", "only", "indexed"],
  ["unindexed", "message", "message"],
];
const INDEX_TABLES = [
  ...["trigram_leaf", "trigram_group", "trigram_bucket", "words_data", "words_docsize"],
  ...["words_idx", "unindexed"],
];

/** A row of the search indexes changed or removed. */
function damageIndex(path: string, dice: Dice): string | undefined {
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  try {
    const rowOf = (table: string, columns: string) => {
      const { rows } = db.prepare(`SELECT count(*) AS rows FROM ${table}`).get() as {
        rows: number;
      };
      return db
        .prepare(`SELECT ${columns} FROM ${table} LIMIT 1 OFFSET ?`)
        .get(dice(Math.max(1, rows))) as Row | undefined;
    };
    if (dice(3) === 0) {
      const table = INDEX_TABLES[dice(INDEX_TABLES.length)]!;
      const [key = "", other] = KEYS_OF[table] ?? ["rowid"];
      const keys = other === undefined ? [key] : [key, other];
      const row = rowOf(table, keys.map((name) => `${name} AS k_${name}`).join(", "));
      if (row === undefined) return undefined;
      const where = keys.map((name) => `${name} = ?`).join(" AND ");
      db.prepare(`DELETE FROM ${table} WHERE ${where}`).run(
        ...keys.map((name) => row[`k_${name}`]!),
      );
      return `${table} row removed`;
    }
    const [table, key, column] = INDEX_COLUMNS[dice(INDEX_COLUMNS.length)]!;
    const keys = KEYS_OF[table] ?? [key];
    const row = rowOf(
      table,
      `${keys.map((name) => `${name} AS k_${name}`).join(", ")}, ${column} AS v`,
    );
    if (row === undefined) return undefined;
    const where = keys.map((name) => `${name} = ?`).join(" AND ");
    db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${where}`).run(
      ...[otherThan(row.v!, dice), ...keys.map((name) => row[`k_${name}`]!)],
    );
    return `${table} ${column} changed`;
  } catch {
    return undefined;
  } finally {
    db.close();
  }
}

/** Of tables without row ids. */
const KEYS_OF: Readonly<Record<string, readonly string[]>> = { words_idx: ["segid", "term"] };

/**
 * All that the tables of messages say, and what the indexes find, looked up as searches do it.
 * Undefined: it cannot be read. Room that is free says still what stood there once.
 */
export function saidIn(path: string): string | undefined {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const all = (query: string) => db.prepare(query).all();
    const tables = [...TABLES.map(([table]) => table), ...MADE_AGAIN, "payload_use"].map((table) =>
      all(`SELECT * FROM ${table}`),
    );
    return JSON.stringify([
      tables,
      wordsIn(db),
      trigramsIn(all),
      all("SELECT indexed FROM watermark"),
    ]);
  } catch {
    return undefined;
  } finally {
    db.close();
  }
}

function wordsIn(db: DatabaseSync): unknown {
  db.exec("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, words, row)");
  db.exec("CREATE VIRTUAL TABLE temp.places USING fts5vocab(main, words, instance)");
  const places = db.prepare("SELECT doc FROM temp.places WHERE term = ?");
  return db
    .prepare("SELECT term FROM temp.terms")
    .all()
    .map(({ term }) => [term, places.all(String(term)).map(({ doc }) => doc)]);
}

function trigramsIn(all: (query: string) => Row[]): unknown {
  const found = new Set<string>();
  const tell = (first: number) => (key: number, place: number) =>
    found.add(`${first + place} ${key}`);
  for (const { first, postings } of all("SELECT * FROM trigram_leaf"))
    eachInLeaf(postings as Uint8Array, tell(Number(first)));
  const groups = new Set(all("SELECT first FROM trigram_group").map(({ first }) => Number(first)));
  for (const { id, postings } of all("SELECT * FROM trigram_bucket")) {
    const bucket = Number(id) % BUCKETS;
    const first = (Number(id) - bucket) / BUCKETS;
    if (groups.has(first)) eachInBucket(postings as Uint8Array, bucket, tell(first));
  }
  return [...found].sort();
}

/**
 * Messages that a search reads because no index says all of them, by `seq`. One that is listed and
 * need not be is read once more, and nothing is lost by it. Undefined: it cannot be read.
 */
export function listedIn(path: string): ReadonlySet<unknown> | undefined {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return new Set(
      db
        .prepare("SELECT message FROM unindexed")
        .all()
        .map(({ message }) => message),
    );
  } catch {
    return undefined;
  } finally {
    db.close();
  }
}
