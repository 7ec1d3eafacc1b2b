// Looks whether a PostgreSQL can be used, and says in a sentence why not.
import pg from "pg";
import { allowing, LIMITS, type LimitsRow, narrowest, raising } from "./connection-limit.ts";
import {
  JOBS_SCHEMA,
  type JobsSchema,
  knownJobsVersion,
  planJobsSchema,
  readJobsSchema,
} from "./jobs/queue-schema.ts";
import { LIVES } from "./node.ts";
import { COLUMNS_OF, type FoundColumn, OWN_TABLES, whyNotOurs } from "./own-tables.ts";
import { codeOf, sqlstateOf } from "./passing.ts";
import { asksForTls, refusesTls, unknownMode, whyNoTls, withPlainMode } from "./tls.ts";
import { comesBack, standbyLacks } from "./try-commit.ts";
import { triesToWrite } from "./try-room.ts";

/** The oldest version that all statements were tried with. */
const OLDEST = 15;
/** Beside those for turns: one says that the gateway lives, two search. */
const OWN_CONNECTIONS = 3;
/** A standby of another continent takes part of a second. */
const COMMIT_MS = 4000;

/** What an operator may want to know of a PostgreSQL. */
export interface PostgresFacts {
  /** As the server says it. */
  version: string;
  /** Name of the database. */
  database: string;
  /** Who asks. */
  user: string;
  /** False: a failure of its machine may lose what was acknowledged (`fsync`). */
  flushesCommits: boolean;
  /** False: a page that was half written when its machine lost power stays so. */
  mendsPages: boolean;
  /** How commits are waited for, as `synchronous_commit` says. */
  synchronousCommit: string;
  /** Standbys that have a commit before it is acknowledged, as far as this user is told of them. */
  synchronousStandbys: number;
  /** Which standbys commits wait for, as `synchronous_standby_names` says; empty: for none. */
  standbyNames: string;
  /** Connections that this user may have in this database, at most. */
  connections: number;
  /** What lets there be more: "raise max_connections", or what changes a user or database. */
  connectionsAdvice: string;
  /** Those of the limit that there are now, this one left out, as far as this user is told. */
  connectionsUsed: number;
  /** Gateways that live. */
  gateways: number;
  /** After so long a statement is ended, ms; 0: never. */
  statementTimeoutMs: number;
  /** Those of a gateway beside the ones for turns. */
  ownConnections: number;
  /** True: `pg_trgm` is there or can be made; without it, texts are searched for one by one. */
  hasTrigrams: boolean;
  /** False: its disk is full; null: nobody tried, or may not try. */
  hasRoom: boolean | null;
  /** How much later it is on this machine, ms; nothing depends on it. */
  clockAheadMs: number;
  /** Tables of pg-boss, by which gateways hand out work. */
  queue: QueueFacts;
}

/** What is there of pg-boss. */
export interface QueueFacts {
  /** Where its tables are. */
  schema: string;
  /** Of its tables; null: the first gateway that starts makes them. */
  version: number | null;
  /** What the pg-boss that is installed here makes of them. */
  known: number;
}

/** Whether a database can be used. */
export type PostgresCheck =
  | { ok: true; facts: PostgresFacts }
  /** One sentence, which names no password. `facts`: it answers all the same. */
  | { ok: false; problem: string; facts?: PostgresFacts };

/**
 * Changes nothing. Never throws. `connections` are those that a gateway wants for turns. `isRead`:
 * nothing is to be stored, and nobody minds how long that takes. `commitMs`: a commit that takes
 * longer is not waited for; absent: 4 s. `triesRoom`: whether its disk has room is tried, too.
 * `makesNothing`: no table is made either, and no right to write is asked for.
 */
export async function checkPostgres({
  url,
  connections,
  timeoutMs = 10_000,
  makesNothing = false,
  isRead = makesNothing,
  commitMs = COMMIT_MS,
  triesRoom = false,
}: {
  url: string;
  connections: number;
  timeoutMs?: number;
  makesNothing?: boolean;
  isRead?: boolean;
  commitMs?: number;
  triesRoom?: boolean;
}): Promise<PostgresCheck> {
  const place = placeIn(url);
  if (place === null) return { ok: false, problem: noAddress(url) };
  const mode = unknownMode(url);
  if (mode !== null) return { ok: false, problem: mode };
  const clients: pg.Client[] = [];
  const connect = async () => {
    const client = new pg.Client({
      ...{ connectionString: withPlainMode(url), application_name: "clew" },
      ...{ query_timeout: timeoutMs, connectionTimeoutMillis: timeoutMs },
    });
    client.on("error", () => {});
    clients.push(client);
    await client.connect();
    return client;
  };
  try {
    const client = await connect();
    const began = Date.now();
    const [row] = (await client.query<FactsRow>(FACTS)).rows;
    const now = (began + Date.now()) / 2;
    const [living] = row!.has_nodes ? (await client.query<Living>(LIVING)).rows : [];
    const queue = await readJobsSchema(async (text) => (await client.query(text)).rows as never);
    const known = await knownJobsVersion();
    const gateways = living?.gateways ?? 0;
    const tables = await foundTables(client);
    const hasRoom = triesRoom ? await triesToWrite((text) => client.query(text)) : null;
    const check = judge(row!, {
      ...{ place, connections, now, gateways, queue, known, tables, hasRoom },
      makesNothing,
    });
    const { standby_names: names, synchronous_commit: how, followers } = row!;
    const waits = names !== "" && how !== "off" && how !== "local";
    if (!check.ok || isRead || !waits) return check;
    if (await comesBack(await connect(), { beside: client, waitMs: commitMs })) return check;
    const facts = { ...check.facts, synchronousStandbys: 0 };
    return {
      ok: false,
      facts,
      problem: standbyLacks({ host: place.host, names, followers, commitMs }),
    };
  } catch (error) {
    // The driver names no code for it.
    if (codeOf(error) === undefined && asksForTls(url) && clients.some(refusesTls))
      return { ok: false, problem: speaksNoTls(place) };
    return { ok: false, problem: whyNot(error, place) };
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
  }
}

interface FactsRow extends LimitsRow {
  version_number: number;
  version: string;
  database: string;
  username: string;
  may_create: boolean;
  has_tables: boolean;
  may_write: boolean;
  is_standby: boolean;
  fsync: string;
  full_page_writes: string;
  synchronous_commit: string;
  standbys: number;
  standby_names: string;
  followers: number;
  statement_timeout_ms: number;
  encoding: string;
  has_nodes: boolean;
  has_trigrams: boolean;
  now: number;
}

interface FoundTables {
  columns: readonly FoundColumn[];
  /** 0: they do not say. */
  version: number;
}

/** All of one moment: another gateway may be making them. */
async function foundTables(client: pg.Client): Promise<FoundTables> {
  await client.query("begin isolation level repeatable read read only");
  const [is] = (await client.query<{ told: boolean }>(IS_TOLD)).rows;
  const [made] = is!.told ? (await client.query<{ version: number }>(MADE)).rows : [];
  const { rows } = await client.query<FoundColumn>(COLUMNS_OF, [Object.keys(OWN_TABLES)]);
  await client.query("commit");
  return { columns: rows, version: made?.version ?? 0 };
}

const IS_TOLD = `
  select coalesce(has_table_privilege(to_regclass('migration'), 'select'), false) as told`;
const MADE = "select version from migration where id = 1";

interface Living {
  gateways: number;
}

const FACTS = `
  select current_setting('server_version_num')::int as version_number,
    current_setting('server_version') as version,
    current_database() as database, current_user::text as username,
    coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create,
    to_regclass('session') is not null as has_tables,
    coalesce(has_table_privilege(to_regclass('session'), 'insert, update, delete'), true)
      as may_write,
    pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as is_standby,
    current_setting('fsync') as fsync,
    current_setting('full_page_writes') as full_page_writes,
    current_setting('synchronous_commit') as synchronous_commit,
    current_setting('synchronous_standby_names') as standby_names,
    current_setting('server_encoding') as encoding,
    (select setting::int from pg_settings where name = 'statement_timeout') as statement_timeout_ms,
    coalesce(has_table_privilege(to_regclass('node'), 'select'), false) as has_nodes,
    (select count(*)::int from pg_stat_replication where sync_state in ('sync', 'quorum'))
      as standbys,
    (select count(*)::int from pg_stat_replication) as followers,
    ${LIMITS},
    exists (select 1 from pg_extension where extname = 'pg_trgm') or (
      has_database_privilege(current_database(), 'create')
      and exists (select 1 from pg_available_extensions where name = 'pg_trgm')
    ) as has_trigrams,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;

const LIVING = `select count(*)::int as gateways from node where ${LIVES("node")}`;

interface Place {
  host: string;
  user: string;
  database: string;
}

function judge(
  row: FactsRow,
  {
    place,
    connections,
    now,
    gateways,
    queue,
    known,
    tables,
    hasRoom,
    makesNothing,
  }: {
    place: Place;
    connections: number;
    now: number;
    gateways: number;
    queue: JobsSchema;
    known: number;
    tables: FoundTables;
    hasRoom: boolean | null;
    makesNothing: boolean;
  },
): PostgresCheck {
  const { version, database, username: user } = row;
  const refused = (problem: string): PostgresCheck => ({ ok: false, problem });
  if (row.version_number < OLDEST * 10_000)
    return refused(
      `PostgreSQL at ${place.host} is version ${version}, and ${OLDEST} is the oldest that can be used; update it.`,
    );
  if (row.is_standby && !makesNothing)
    return refused(
      `PostgreSQL at ${place.host} is a standby or set to be read only, and cannot be written to; name its primary.`,
    );
  if (row.encoding !== "UTF8")
    return refused(
      `The database "${database}" is encoded as ${row.encoding}, which cannot hold every text; make another one: createdb --encoding UTF8 --template template0.`,
    );
  if (!row.has_tables && !row.may_create && !makesNothing)
    return refused(
      `The user "${user}" may not make tables in the database "${database}"; as its owner, run: grant create on schema public to "${user}".`,
    );
  if (!row.may_write && !makesNothing)
    return refused(
      `The user "${user}" may not write the tables that are in the database "${database}"; let the user who made them run the gateway, or grant insert, update and delete on them.`,
    );
  const foreign = whyNotOurs(tables.columns, { version: tables.version, database });
  if (foreign !== null) return refused(foreign);
  const plan = planJobsSchema(queue, { known, user, database });
  if (plan.kind === "refused" && !makesNothing) return refused(plan.problem);
  const wanted = connections + OWN_CONNECTIONS;
  const limit = narrowest(row);
  const advice = raising(limit.of, { user, database });
  if (wanted > limit.connections)
    return refused(
      `${allowing(limit.of, { ...place, user, database })} allows ${limit.connections} connections in all, and one gateway with storage.connections ${connections} takes ${wanted}; lower that, or ${advice}.`,
    );
  return {
    ok: true,
    facts: {
      ...{ version, database, user, ownConnections: OWN_CONNECTIONS },
      ...{ connections: limit.connections, connectionsAdvice: advice },
      flushesCommits: row.fsync === "on",
      mendsPages: row.full_page_writes === "on",
      synchronousCommit: row.synchronous_commit,
      synchronousStandbys: row.standbys,
      standbyNames: row.standby_names,
      ...{ gateways, connectionsUsed: limit.used },
      statementTimeoutMs: row.statement_timeout_ms,
      hasTrigrams: row.has_trigrams,
      hasRoom,
      clockAheadMs: Math.round(now - row.now),
      queue: { schema: JOBS_SCHEMA, version: queue.version, known },
    },
  };
}

function noAddress(url: string): string {
  // The driver asks one host alone.
  if (/^postgres(?:ql)?:\/\/[^/?]*,/.test(url))
    return "The address of the database names several hosts, of which only one can be asked; name one that leads to the primary whichever that is, such as that of a proxy or of your service.";
  if (hasSpaceAround(url))
    return "The address of the database begins or ends with a space, which is no part of it; write it as postgres://user:password@host:5432/database, without.";
  if (/^[\s;]*[a-z_ ]+=/i.test(url))
    return "The address of the database is written as name=value, which the driver does not read; write it as postgres://user:password@host:5432/database, and what else it says behind that as ?name=value&name=value.";
  return "The address of the database is none that PostgreSQL knows; write it as postgres://user:password@host:5432/database, and in user and password each of the characters # / ? @ : % [ ] and space as percent-encoding has it, such as %23 for #.";
}

/** The driver takes it for a part of a name; line feeds and tabs it leaves out. */
function hasSpaceAround(url: string): boolean {
  const read = url.replace(/[\r\n\t]/g, "");
  return read !== read.trim() && /^\s*postgres(?:ql)?:/i.test(read);
}

/** Null: it is no such address. */
function placeIn(url: string): Place | null {
  if (!URL.canParse(url) || hasSpaceAround(url)) return null;
  const { protocol, hostname, port, username, pathname, searchParams } = new URL(url);
  if (protocol !== "postgres:" && protocol !== "postgresql:") return null;
  const host = searchParams.get("host") ?? hostname;
  const user = decodeURIComponent(username) || (searchParams.get("user") ?? "");
  return {
    host: port === "" ? host : `${host}:${port}`,
    user,
    database: decodeURIComponent(pathname.slice(1)),
  };
}

function whyNot(error: unknown, { host, user, database }: Place): string {
  const code = codeOf(error) ?? "";
  if (code === "28P01" || code === "28000")
    return `PostgreSQL at ${host} does not let the user "${user}" in: the password is wrong, or pg_hba.conf allows no connection from here.`;
  if (code === "3D000")
    return `PostgreSQL at ${host} has no database "${database}"; make it (createdb "${database}"), or name another one.`;
  if (code === "42501")
    return `The user "${user}" may not use the database "${database}" at ${host}; grant connect on it.`;
  if (code === "53300")
    return `PostgreSQL at ${host} has no connection left; end others, or raise max_connections.`;
  if (code === "57P03")
    return `PostgreSQL at ${host} is starting or ending; try again in a moment.`;
  if (code === "57014")
    return `PostgreSQL at ${host} ends what takes longer than its statement_timeout (${code}), and that is too short to look at the database "${database}"; raise it for this user: alter role "${user}" set statement_timeout = '30s'.`;
  const file = unreadFile(error);
  if (file !== null)
    return `The address of the database names the file ${file}, which cannot be read (${code}); correct sslrootcert, sslcert or sslkey in it.`;
  const why = error instanceof Error ? firstSentence(error.message) : "";
  const tls = whyNoTls(code, host);
  if (tls !== null) return tls;
  if (sqlstateOf(error) !== undefined)
    return `PostgreSQL at ${host} answers, and refuses what it is asked of the database "${database}" (${code}): ${why}; correct that, and try again.`;
  return `Nobody answers as PostgreSQL at ${host}${code === "" ? "" : ` (${code})`}${why === "" ? "" : `: ${why}`}; start the server, or correct the address.`;
}

const speaksNoTls = ({ host }: Place): string =>
  `PostgreSQL at ${host} speaks no TLS, and the address asks for it; let the server speak it (ssl = on, ssl_cert_file, ssl_key_file), or take sslmode out of the address where nobody stands between.`;

/** One that the address names; null: it is none of these that failed. */
function unreadFile(error: unknown): string | null {
  const { syscall, path } = (error ?? {}) as NodeJS.ErrnoException;
  return syscall !== undefined && syscall !== "connect" && path !== undefined ? path : null;
}

/** The rest may hold more than is to be told. */
const firstSentence = (text: string): string => text.split("\n", 1)[0]!.replace(/[.;]$/, "");
