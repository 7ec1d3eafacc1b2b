// Adds jobs, how far each is, and how their runs went.

/** Moments are ms since the epoch. Of pg-boss nothing is here: it has a schema of its own. */
export const JOBS = `
  -- What a person asked for; no gateway writes it by itself.
  create table cron_job (
    id text primary key,
    created_at bigint not null,
    body text not null
  );

  -- How far it is: changed only by who knows how far it was.
  create table cron_state (
    id text primary key references cron_job (id) on delete cascade,
    settled_until bigint not null,
    ahead_until bigint,
    asked_until bigint not null,
    run_due bigint,
    run_started bigint,
    run_missed bigint
  );

  create table cron_run (
    id text not null references cron_job (id) on delete cascade,
    started_at bigint not null,
    due bigint not null,
    body text not null,
    primary key (id, started_at, due)
  );
`;
