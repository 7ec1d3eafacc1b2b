// Brings the tables of a database to the version that this code expects.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { AskText, Database } from "./database.ts";
import { storageFailed } from "./failure.ts";
import { MIGRATIONS } from "./migrations/all.ts";
import { LIVES } from "./node.ts";
import { notOurs, tooNew } from "./own-tables.ts";
import { codeOf } from "./passing.ts";

const VERSION_TABLE = `
  create table if not exists migration (id integer primary key check (id = 1), version integer not null);
  insert into migration (id, version) values (1, 0) on conflict (id) do nothing;
`;

/** Whoever creates a table beside another who does is told that it is there. */
const IS_THERE = /^(?:23505|42P07|42710)$/;

/**
 * Each change is one transaction; of several gateways that start at once, one makes it and the
 * others wait for that row. Throws STORAGE_FAILED when a newer version made the tables, and while
 * gateways live that know only those that are there; whoever was at `place` does not.
 */
export async function migrate(database: Database, place: string | null = null): Promise<void> {
  try {
    // Whoever only reads waits for nobody: not for a standby that has to have every commit.
    if ((await versionThere(database)) === MIGRATIONS.length) return;
    await makeVersionTable(database);
    for (let isBehind = true; isBehind; )
      await database.change(async (ask) => {
        const version = await lockedVersion(ask);
        const sql = MIGRATIONS[version];
        isBehind = version + 1 < MIGRATIONS.length;
        if (version > MIGRATIONS.length)
          throw new ContextEngineError("STORAGE_FAILED", tooNew(version));
        if (sql !== undefined && version > 0) await requireNobodyOlder(ask, { version, place });
        return sql && `${sql}; update migration set version = ${version + 1};`;
      });
  } catch (error) {
    const code = codeOf(error) ?? "";
    if (IS_THERE.test(code) || code === "42701") throw inTheWay(error);
    throw storageFailed(error);
  }
}

/**
 * For who has joined, as it may have done so while a newer one changed the tables. Throws
 * STORAGE_FAILED.
 */
export async function requireOwnVersion(database: Database): Promise<void> {
  await database.change(async (ask) => {
    const version = await lockedVersion(ask);
    if (version > MIGRATIONS.length)
      throw new ContextEngineError("STORAGE_FAILED", tooNew(version));
    return undefined;
  });
}

interface Living {
  address: string;
  version: string;
  place: string | null;
}

/** Tables of the first version say nothing of places. */
const LIVING = `
  select address, version, to_jsonb(node) ->> 'place' as place from node
  where ${LIVES("node")} order by address`;

/** Whoever joined the database with these tables asks it as they are. */
async function requireNobodyOlder(
  ask: AskText,
  { version, place }: { version: number; place: string | null },
): Promise<void> {
  const living = (await ask(LIVING)) as unknown as Living[];
  const others = living.filter((each) => each.place === null || each.place !== place);
  if (others.length === 0) return;
  const named = others.map((each) => `${each.address}${each.version && ` (${each.version})`}`);
  throw new ContextEngineError(
    "STORAGE_FAILED",
    `The tables of the database are of version ${version}, and this version of @clew/store-postgres changes them to ${MIGRATIONS.length}, which older gateways that run cannot use: ${named.join(", ")}; stop all of them, and try again (one that was killed counts as running until storage.deadAfterSeconds are over).`,
  );
}

/**
 * Makes nothing. False: there are no tables. Throws STORAGE_FAILED where they are of another
 * version.
 */
export async function hasTables(database: Database): Promise<boolean> {
  const version = await versionThere(database).catch((error: unknown) => {
    throw storageFailed(error);
  });
  if (version === null || version === 0) return false;
  if (version === MIGRATIONS.length) return true;
  throw new ContextEngineError(
    "STORAGE_FAILED",
    version > MIGRATIONS.length
      ? tooNew(version)
      : "The tables of the database are of an older version, which only a gateway or a copy brings up to date; start one, or copy without --check.",
  );
}

/** Null: there are no tables. */
async function versionThere(database: Database): Promise<number | null> {
  let version: number | null = null;
  await database.change(async (ask) => {
    const [table] = await ask("select to_regclass('migration') is not null as is_there");
    if (table?.is_there !== true) return undefined;
    const [row] = await ask("select version from migration where id = 1");
    version = row === undefined ? null : Number(row.version);
    return undefined;
  });
  return version;
}

/** The server's message names the table or column. */
function inTheWay(error: unknown): ContextEngineError {
  const what = error instanceof Error ? error.message : "";
  const code = codeOf(error);
  return new ContextEngineError("STORAGE_FAILED", notOurs(null, `${what}, ${code}`), {
    cause: error,
  });
}

async function makeVersionTable(database: Database): Promise<void> {
  for (let again = 0; ; again++)
    try {
      return await database.change(async () => VERSION_TABLE);
    } catch (error) {
      if (again === 3 || !IS_THERE.test(codeOf(error) ?? "")) throw error;
    }
}

async function lockedVersion(ask: AskText): Promise<number> {
  const [row] = await ask("select version from migration where id = 1 for update");
  return Number(row?.version);
}
