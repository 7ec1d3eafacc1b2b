// Audits the pages of the file, and references from table to table.
import { DatabaseSync } from "node:sqlite";
import { migrate } from "../migrate.ts";
import { MIGRATIONS } from "../migrations.ts";
import type { Sql } from "../sql.ts";
import { type AuditPart, type Fault, fault, readable } from "./fault.ts";
import { listsOthers, wrongPages, wrongTable } from "./pages.ts";

/** Pages of the file, and its indexes against its tables. */
export function filePart(): AuditPart {
  const faults: Fault[] = [];
  const names: string[] = [];
  /** What was said of the whole file is not said of a table again. */
  const told = new Set<string>();
  let isListed = false;
  return {
    name: "file",
    faults,
    read: 0,
    readOn(store, isOver) {
      if (!isListed) {
        isListed = true;
        const listed = readable(() =>
          store.read((sql) =>
            sql("SELECT name FROM sqlite_schema WHERE type = 'table'")
              .all()
              .map(({ name }) => String(name)),
          ),
        );
        if (listed === undefined) faults.push(damagedFile("its list of tables cannot be read"));
        names.push("sqlite_schema", ...(listed ?? []));
        const wrong = readable(() => store.read(wrongPages)) ?? ["they cannot be read"];
        for (const text of wrong) told.add(text);
        faults.push(...wrong.map((text) => damagedFile(`pages of the file: ${text}`)));
        if (isOver()) return false;
      }
      for (let name = names.shift(); name !== undefined; name = names.shift()) {
        const table = name;
        const wrong = readable(() => store.read((sql) => wrongTable(sql, table)));
        for (const text of wrong ?? ["it cannot be read"])
          if (!told.has(text)) faults.push(damagedFile(`table ${table}: ${text}`));
        if (isOver()) return false;
      }
      faults.push(...(readable(() => store.read(schemaFaults)) ?? []));
      faults.push(
        ...(readable(() => store.read(indexFaults)) ?? [damagedFile("an index cannot be read")]),
      );
      const broken = readable(() => store.read((sql) => sql("PRAGMA foreign_key_check").all()));
      for (const { table, rowid, parent } of broken ?? [])
        faults.push(
          fault(
            "inconsistent",
            "file",
            null,
            `row ${rowid} of table ${table} refers to a row of ${parent} that is gone`,
          ),
        );
      return true;
    },
  };
}

/** Tables, indexes and the like are those of a new database: triggers write what they like. */
function schemaFaults(sql: Sql): Fault[] {
  const found = definitionsIn(sql);
  const known = newDatabaseDefinitions();
  return [
    ...[...found.keys()]
      .filter((name) => !known.has(name))
      .map((name) => fault("added", "file", null, `the ${name} is none of the engine's`)),
    ...[...known].flatMap(([name, definition]) => {
      const there = found.get(name);
      if (there === undefined) return [fault("missing", "file", null, `the ${name} is gone`)];
      return there === definition
        ? []
        : [fault("changed", "file", null, `the ${name} is defined otherwise than by the engine`)];
    }),
  ];
}

/** Those that are defined otherwise are told as such. */
const indexFaults = (sql: Sql): Fault[] => {
  const known = newDatabaseDefinitions();
  return [...definitionsIn(sql)].flatMap(([name, definition]) => {
    const [, index] = /^index (.+)$/.exec(name) ?? [];
    const [, table = ""] = /^(\w+): /.exec(definition) ?? [];
    return index !== undefined &&
      known.get(name) === definition &&
      listsOthers(sql, { table, index, definition })
      ? [fault("inconsistent", "file", null, `the ${name} lists rows that it is not of`)]
      : [];
  });
};

/** What SQLite counts and notes for itself, in tables only. */
const STATISTICS = /^sqlite_(?:stat\d|sequence)$/;

/** "index message_conversation", with the table that it is of and the words that made it. */
const definitionsIn = (sql: Sql): ReadonlyMap<string, string> =>
  new Map(
    sql("SELECT type, name, tbl_name, sql FROM sqlite_schema")
      .all()
      .filter(({ type, name }) => type !== "table" || !STATISTICS.test(String(name)))
      .map(({ type, name, tbl_name, sql: words }) => [
        `${type} ${name}`,
        `${tbl_name}: ${String(words ?? "").replaceAll(/\s+/g, " ")}`,
      ]),
  );

let known: ReadonlyMap<string, string> | undefined;
function newDatabaseDefinitions(): ReadonlyMap<string, string> {
  if (known !== undefined) return known;
  const db = new DatabaseSync(":memory:");
  try {
    migrate(db, ":memory:", MIGRATIONS);
    known = definitionsIn((text) => db.prepare(text));
    return known;
  } finally {
    db.close();
  }
}

const damagedFile = (text: string): Fault => fault("unreadable", "file", null, text);
