// Damages a database in one random way, so that tests see that an audit finds it.
import { readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

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
];
const TABLES = [
  ["message", "seq"],
  ["payload", "id"],
  ["link", "message"],
  ["change", "id"],
  ["conversation", "id"],
  ["summary", "id"],
  ["graph", "conversation"],
] as const;

/** What was done; undefined: it came to nothing, as nothing of the kind is there. */
export function damage(path: string, dice: Dice): string | undefined {
  return dice(4) === 0 ? damageBytes(path, dice) : damageRows(path, dice);
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
  const before = saidIn(path);
  writeFileSync(path, bytes);
  // Room that is free says still what stood there once.
  return saidIn(path) === before ? undefined : `byte ${at} of the file changed`;
}

/** All that the tables of messages say; undefined: they cannot be read. */
function saidIn(path: string): string | undefined {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return JSON.stringify(
      ["message", "payload"].map((table) =>
        db
          .prepare(`SELECT * FROM ${table}`)
          .all()
          .map((row) => Object.values(row)),
      ),
    );
  } catch {
    return undefined;
  } finally {
    db.close();
  }
}
