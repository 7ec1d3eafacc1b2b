// Tells which limit of connections is the narrowest for a user in a database.

export interface LimitsRow {
  connections: number;
  connections_used: number;
  /** Null: there is none. */
  user_connections: number | null;
  user_connections_used: number;
  database_connections: number | null;
  database_connections_used: number;
}

/** Columns of a row; the connection that asks is left out. */
export const LIMITS = `
    current_setting('max_connections')::int
      - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0) as connections,
    (select count(*)::int - 1 from pg_stat_activity where backend_type = 'client backend')
      as connections_used,
    (select nullif(rolconnlimit, -1) from pg_roles
      where rolname = current_user and not rolsuper) as user_connections,
    (select count(*)::int - 1 from pg_stat_activity where usename = current_user)
      as user_connections_used,
    (select nullif(d.datconnlimit, -1) from pg_database d, pg_roles r
      where d.datname = current_database() and r.rolname = current_user and not r.rolsuper)
      as database_connections,
    (select count(*)::int - 1 from pg_stat_activity where datname = current_database())
      as database_connections_used`;

type LimitOf = "server" | "user" | "database";

export interface ConnectionLimit {
  of: LimitOf;
  connections: number;
  used: number;
}

/** Pure. */
export function narrowest(row: LimitsRow): ConnectionLimit {
  const limits: [LimitOf, number | null, number][] = [
    ["server", row.connections, row.connections_used],
    ["user", row.user_connections, row.user_connections_used],
    ["database", row.database_connections, row.database_connections_used],
  ];
  return limits
    .flatMap(([of, connections, used]) => (connections === null ? [] : { of, connections, used }))
    .reduce((least, other) => (other.connections < least.connections ? other : least));
}

interface Names {
  user: string;
  database: string;
}

export const allowing = (of: LimitOf, { host, user, database }: Names & { host: string }): string =>
  ({
    server: `PostgreSQL at ${host}`,
    user: `The limit of the user "${user}"`,
    database: `The limit of the database "${database}"`,
  })[of];

/** What lets a gateway have more. */
export const raising = (of: LimitOf, { user, database }: Names): string =>
  ({
    server: "raise max_connections",
    user: `as an administrator run: alter role "${user}" connection limit -1`,
    database: `as its owner run: alter database "${database}" connection limit -1`,
  })[of];
