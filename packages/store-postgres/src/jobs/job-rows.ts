// Keeps jobs, how far they are, and how their runs went, for all gateways of a database.
import type { Database, Statement } from "../database.ts";

/** What a person asked for. */
export interface JobRow {
  /** Names it in the database. */
  id: string;
  /** ms since the epoch; lists begin with the oldest. */
  createdAt: number;
  /** As it was given. */
  body: string;
}

/** How far a job is; moments are ms since the epoch. */
export interface JobProgress {
  /** Everything due up to here was run or left out. */
  settledUntil: number;
  /** Up to where a clock that was far ahead settled it; null: none was. */
  aheadUntil: number | null;
  /** When the newest run was asked for that was taken; 0 = none. */
  askedUntil: number;
  /** The one that is under way; null: none is. */
  run: { due: number; startedAt: number; missed: number } | null;
}

/** How a run went. */
export interface JobRunRow {
  /** ms since the epoch; with `startedAt`, by which it is there once. */
  due: number;
  /** ms since the epoch. */
  startedAt: number;
  /** As it was given. */
  body: string;
}

/** Jobs of a database. All reject with STORAGE_FAILED. */
export interface JobRows {
  /** Oldest first, and what the clock of the database says, ms since the epoch. */
  list(): Promise<{ jobs: JobRow[]; now: number }>;
  /** Null: there is none. */
  find(id: string): Promise<JobRow | null>;
  /** In place of the one of this id. Durable when it resolves. */
  put(job: JobRow): Promise<void>;
  /** With all that is known of it; false: there was none. */
  remove(id: string): Promise<boolean>;
  /** Null: nothing is known yet. */
  progress(id: string): Promise<JobProgress | null>;
  /** Of all jobs of which something is known. */
  allProgress(): Promise<{ id: string; progress: JobProgress }[]>;
  /**
   * Goes on from what was known (null: nothing) and no further than once: false where it is
   * something else by now, or the job is gone. Durable when it resolves.
   */
  advance(id: string, from: JobProgress | null, to: JobProgress): Promise<boolean>;
  /** Those that are there stay; of a job that is gone none is kept. */
  addRuns(id: string, runs: readonly JobRunRow[]): Promise<void>;
  /** Newest first. */
  runs(id: string, limit: number): Promise<JobRunRow[]>;
}

const LIST: Statement<JobRow & { now: number }> = {
  name: "jobs-list",
  text: `
    select j.id, j.created_at::float8 as "createdAt", j.body, t.now
    from (select (extract(epoch from clock_timestamp()) * 1000)::float8 as now) t
    left join cron_job j on true
    order by j.created_at, j.id`,
};

const FIND: Statement<JobRow> = {
  name: "jobs-find",
  text: `select id, created_at::float8 as "createdAt", body from cron_job where id = $1`,
};

const PUT: Statement<never> = {
  name: "jobs-put",
  text: `
    insert into cron_job (id, created_at, body) values ($1, $2, $3)
    on conflict (id) do update set created_at = $2, body = $3`,
};

const REMOVE: Statement<{ id: string }> = {
  name: "jobs-remove",
  text: "delete from cron_job where id = $1 returning id",
};

interface ProgressRow {
  id: string;
  settled: number;
  ahead: number | null;
  asked: number;
  due: number | null;
  started: number | null;
  missed: number | null;
}

const AS_PROGRESS = `
  id, settled_until::float8 as settled, ahead_until::float8 as ahead, asked_until::float8 as asked,
  run_due::float8 as due, run_started::float8 as started, run_missed::float8 as missed`;

const PROGRESS: Statement<ProgressRow> = {
  name: "jobs-progress",
  text: `select ${AS_PROGRESS} from cron_state where id = $1`,
};

const ALL_PROGRESS: Statement<ProgressRow> = {
  name: "jobs-all-progress",
  text: `select ${AS_PROGRESS} from cron_state order by id`,
};

const COLUMNS = "settled_until, ahead_until, asked_until, run_due, run_started, run_missed";
const TO = "$2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::bigint, $7::bigint";
const FROM = "$8::bigint, $9::bigint, $10::bigint, $11::bigint, $12::bigint, $13::bigint";

/** Sent again it finds what it made itself, and that is what was wanted. */
const ADVANCE: Statement<{ id: string }> = {
  name: "jobs-advance",
  text: `
    update cron_state set (${COLUMNS}) = row (${TO})
    where id = $1 and (
      row (${COLUMNS}) is not distinct from row (${FROM})
      or row (${COLUMNS}) is not distinct from row (${TO}))
    returning id`,
};

const BEGIN: Statement<{ id: string }> = {
  name: "jobs-begin",
  text: `
    insert into cron_state as s (id, ${COLUMNS})
    select j.id, ${TO} from cron_job j where j.id = $1 for key share
    on conflict (id) do update set settled_until = excluded.settled_until
      where row (s.settled_until, s.ahead_until, s.asked_until, s.run_due, s.run_started, s.run_missed)
        is not distinct from row (${TO})
    returning id`,
};

const ADD_RUNS: Statement<never> = {
  name: "jobs-add-runs",
  text: `
    insert into cron_run (id, started_at, due, body)
    select j.id, r.started_at, r.due, r.body
    from (select id from cron_job where id = $1 for key share) j,
      unnest($2::bigint[], $3::bigint[], $4::text[]) as r (started_at, due, body)
    on conflict do nothing`,
};

const RUNS: Statement<JobRunRow> = {
  name: "jobs-runs",
  text: `
    select due::float8, started_at::float8 as "startedAt", body from cron_run
    where id = $1 order by started_at desc, due desc limit $2`,
};

export function createJobRows(database: Pick<Database, "ask">): JobRows {
  return {
    async list() {
      const rows = await database.ask(LIST, []);
      const jobs = rows.flatMap(({ id, createdAt, body }) =>
        // No job at all is one row of the clock.
        id === null ? [] : [{ id, createdAt, body }],
      );
      return { jobs, now: rows[0]!.now };
    },
    find: async (id) => (await database.ask(FIND, [id]))[0] ?? null,
    put: async ({ id, createdAt, body }) => void (await database.ask(PUT, [id, createdAt, body])),
    remove: async (id) => (await database.ask(REMOVE, [id])).length > 0,
    async progress(id) {
      const [row] = await database.ask(PROGRESS, [id]);
      return row === undefined ? null : progressOf(row);
    },
    async allProgress() {
      const rows = await database.ask(ALL_PROGRESS, []);
      return rows.map((row) => ({ id: row.id, progress: progressOf(row) }));
    },
    async advance(id, from, to) {
      const [statement, values] =
        from === null
          ? [BEGIN, [id, ...valuesOf(to)]]
          : [ADVANCE, [id, ...valuesOf(to), ...valuesOf(from)]];
      return (await database.ask(statement, values)).length > 0;
    },
    addRuns: async (id, runs) =>
      void (await database.ask(ADD_RUNS, [
        ...[id, runs.map(({ startedAt }) => startedAt), runs.map(({ due }) => due)],
        runs.map(({ body }) => body),
      ])),
    runs: (id, limit) => database.ask(RUNS, [id, limit]),
  };
}

const valuesOf = ({ settledUntil, aheadUntil, askedUntil, run }: JobProgress) => [
  ...[settledUntil, aheadUntil, askedUntil],
  ...[run?.due ?? null, run?.startedAt ?? null, run?.missed ?? null],
];

const progressOf = ({ settled, ahead, asked, due, started, missed }: ProgressRow): JobProgress => ({
  ...{ settledUntil: settled, aheadUntil: ahead, askedUntil: asked },
  run: due === null ? null : { due, startedAt: started ?? due, missed: missed ?? 0 },
});
