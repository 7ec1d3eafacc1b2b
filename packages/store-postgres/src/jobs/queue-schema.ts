// Decides whether the tables of pg-boss can be used or made, and says in a sentence why not.

/** Where pg-boss has its tables; ours are where they always were. */
export const JOBS_SCHEMA = "clew_jobs";

/** What a database says of that schema. */
export interface JobsSchema {
  /** It is there, with tables of pg-boss or without. */
  isThere: boolean;
  /** Of its tables; null: there are none, or they cannot be read. */
  version: number | null;
  /** This user may make the schema, or tables in it where it is there. */
  mayMake: boolean;
  /** This user may read and write the tables that are there. */
  mayUse: boolean;
}

export type JobsPlan =
  | { kind: "ready" }
  /** `makesSchema`: the schema itself, too. */
  | { kind: "make"; makesSchema: boolean }
  | { kind: "refused"; problem: string };

/** One row. */
export const JOBS_SCHEMA_FACTS = `
  select to_regnamespace('${JOBS_SCHEMA}') is not null as is_there,
    to_regclass('${JOBS_SCHEMA}.version') is not null as has_version,
    case when to_regnamespace('${JOBS_SCHEMA}') is null
      then has_database_privilege(current_database(), 'create')
      else coalesce(has_schema_privilege(to_regnamespace('${JOBS_SCHEMA}'), 'create'), false)
    end as may_make,
    coalesce(has_schema_privilege(to_regnamespace('${JOBS_SCHEMA}'), 'usage'), true)
      and coalesce(
        has_table_privilege(to_regclass('${JOBS_SCHEMA}.job'), 'select, insert, update, delete'),
        true
      ) as may_use,
    current_user::text as username, current_database() as database`;

export interface JobsFactsRow {
  is_there: boolean;
  has_version: boolean;
  may_make: boolean;
  may_use: boolean;
  username: string;
  database: string;
}

export const JOBS_VERSION = `select version from ${JOBS_SCHEMA}.version`;

/** Asks by whatever connection there is. */
export async function readJobsSchema(
  ask: <Row>(text: string) => Promise<Row[]>,
): Promise<JobsSchema & { user: string; database: string }> {
  const [row] = await ask<JobsFactsRow>(JOBS_SCHEMA_FACTS);
  const { is_there, has_version, may_make, may_use, username, database } = row!;
  const [found] = has_version && may_use ? await ask<{ version: number | null }>(JOBS_VERSION) : [];
  return {
    ...{ isThere: is_there, version: found?.version ?? null, mayMake: may_make, mayUse: may_use },
    ...{ user: username, database },
  };
}

/** Pure. `known`: the version that the installed pg-boss makes. */
export function planJobsSchema(
  { isThere, version, mayMake, mayUse }: JobsSchema,
  { known, user, database }: { known: number; user: string; database: string },
): JobsPlan {
  const refused = (problem: string): JobsPlan => ({ kind: "refused", problem });
  if (!mayUse)
    return refused(
      `The user "${user}" may not use the tables of pg-boss in the schema "${JOBS_SCHEMA}"; let the user who made them run the gateway, or as its owner run: alter schema ${JOBS_SCHEMA} owner to "${user}", and the same of its tables.`,
    );
  if (version === known) return { kind: "ready" };
  if (version !== null && version > known)
    return refused(
      `The tables of pg-boss in the schema "${JOBS_SCHEMA}" are of version ${version}, and the pg-boss of this gateway knows ${known}; update the gateway.`,
    );
  if (mayMake) return { kind: "make", makesSchema: !isThere };
  if (version !== null)
    return refused(
      `The tables of pg-boss in the schema "${JOBS_SCHEMA}" are of version ${version}, and the user "${user}" may not bring them to ${known}; let the user who made them start the gateway once.`,
    );
  return refused(
    isThere
      ? `The schema "${JOBS_SCHEMA}" holds no tables of pg-boss yet, and the user "${user}" may make none in it; as its owner, run: grant create, usage on schema ${JOBS_SCHEMA} to "${user}".`
      : `The user "${user}" may not make the schema "${JOBS_SCHEMA}", in which jobs are queued, in the database "${database}"; as its owner, run: create schema ${JOBS_SCHEMA} authorization "${user}".`,
  );
}

/** Of the tables that the installed pg-boss makes. */
export async function knownJobsVersion(): Promise<number> {
  const { default: found } = await import("pg-boss/package.json", { with: { type: "json" } });
  return (found as { pgboss: { schema: number } }).pgboss.schema;
}
