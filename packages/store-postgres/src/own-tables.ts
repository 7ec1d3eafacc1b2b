// Says in a sentence what is wrong with the tables that a database has under our names.
import { MIGRATIONS } from "./migrations/all.ts";

/** What statements of this version cannot do without; there may be more. */
export const OWN_TABLES: Readonly<Record<string, readonly string[]>> = {
  node: ["id", "address", "version", "ttl_ms", "seen_at", "place", "public_key"],
  session: [
    ...["agent_id", "id", "key", "owner", "epoch", "step", "last_step", "head_seq", "last_entry"],
    ...["head_line", "branch", "turn", "turn_tries", "created_at", "changed_at", "header", "label"],
    ...["bytes", "base", "is_behind"],
  ],
  entry: ["agent_id", "session_id", "seq", "entry_id", "role", "ts", "body", "blob"],
  delivery: ["agent_id", "session_id", "line", "engine_id", "change"],
  report: ["agent_id", "session_id", "step", "turn", "body", "parts", "is_told"],
  part: ["agent_id", "hash", "body", "blob"],
  part_use: ["agent_id", "session_id", "hash"],
  inbox: ["agent_id", "key", "id", "place", "node", "message_id", "body", "at"],
  inbox_row: ["agent_id", "key", "id", "place", "node", "message_id", "body", "at", "taken_at"],
  cluster: ["one", "id"],
  kept_file: ["home", "place_id", "piece", "place", "agent_id", "session_id", "kind", "body"],
  copied: ["home", "agent_id", "session_id", "print", "step", "line", "key", "engine_rows"],
  search: ["agent_id", "ts", "session_id", "seq", "is_bulk", "text"],
  search_mark: ["agent_id", "session_id", "seq", "messages"],
  engine_row: ["agent_id", "session_id", "engine", "kind", "key", "epoch", "step", "body"],
  numbering: ["kind", "next"],
  blob: ["agent_id", "hash", "size", "uses", "at", "dropping"],
  cron_job: ["id", "created_at", "body"],
  cron_state: ["id", "settled_until", "ahead_until", "asked_until", "run_due", "run_started"],
  cron_run: ["id", "started_at", "due", "body"],
  duty: ["name", "owner"],
  child: ["agent_id", "key", "node", "body"],
  cost_line: ["home", "day", "start", "upto", "body", "put_at"],
};

/** `$1`: names of tables. */
export const COLUMNS_OF = `
  select t.name as "table", a.attname::text as "column" from unnest($1::text[]) as t (name)
  join pg_attribute a on a.attrelid = to_regclass(t.name) and a.attnum > 0 and not a.attisdropped`;

/** A column that is there. */
export interface FoundColumn {
  table: string;
  column: string;
}

/** Pure. Null: they can be used, or made. `version`: what they say they are; 0 = nothing. */
export function whyNotOurs(
  columns: readonly FoundColumn[],
  { version, database }: { version: number; database: string },
): string | null {
  if (version > MIGRATIONS.length) return tooNew(version);
  const isThere = new Set(columns.map(({ table, column }) => `${table}.${column}`));
  const tables = new Set(columns.map(({ table }) => table));
  if (version === 0)
    return tables.size === 0 ? null : notOurs(database, `"${[...tables].join('", "')}"`);
  if (version < MIGRATIONS.length) return null;
  const lacking = Object.entries(OWN_TABLES).flatMap(([table, names]) =>
    names.filter((name) => !isThere.has(`${table}.${name}`)).map((name) => ({ table, name })),
  );
  const [first] = lacking;
  if (first === undefined) return null;
  const what = tables.has(first.table)
    ? `its table "${first.table}" has no column "${first.name}"`
    : `it has no table "${first.table}"`;
  return `The database "${database}" says that its tables are of version ${version}, and ${what}: something else made or changed them; restore the database from a backup, or name another one.`;
}

/** Of tables that are not made by what the database says was made. */
export const notOurs = (database: string | null, tables: string): string =>
  `The database${database === null ? "" : ` "${database}"`} has tables that Clew would make (${tables}), and does not say that Clew made them in this order: they are of another program, or of a backup that is not whole; name a database of its own, or restore all tables with "migration".`;

export const tooNew = (version: number): string =>
  `The database has tables of version ${version}, and this version of @clew/store-postgres knows ${MIGRATIONS.length}; update the gateway.`;
