// Keeps jobs in PostgreSQL, for whichever gateway runs them.
import type { JobProgress, PostgresReader } from "@clew/store-postgres";
import {
  type Job,
  type JobRun,
  JobRunSchema,
  JobSchema,
  type JobState,
  NEW_STATE,
} from "../../cron/job.ts";
import type { JobStore } from "../../cron/job-store.ts";
import { fromJson, toJson } from "../../own-json.ts";

export type SharedJobStore = JobStore & Required<Pick<JobStore, "shared">>;

export function createJobRows(
  store: Pick<PostgresReader<never>, "jobs" | "gateways" | "queues">,
): SharedJobStore {
  const { jobs: rows } = store;
  // By the clock of the database, which one machine's that is wrong or is set does not change.
  let seen = { now: Date.now(), at: performance.now() };
  const clock = { now: () => Math.round(seen.now + performance.now() - seen.at) };
  return {
    async jobs(onUnreadable) {
      const { jobs, now } = await rows.list();
      seen = { now, at: performance.now() };
      return jobs.flatMap(({ id, body }) => {
        const job = parsedJob(body);
        if (job === undefined) onUnreadable?.(`the row "${id}" of cron_job`);
        return job === undefined ? [] : [job];
      });
    },
    isThere: async (id) => (await rows.find(id)) !== null,
    write: (job) => rows.put({ id: job.id, createdAt: job.createdAt, body: toJson(job) }),
    remove: (id) => rows.remove(id),
    state: async (id) => stateOf(await rows.progress(id)),
    async writeState(id, state) {
      // Nobody else is to have gone on meanwhile; where somebody has, that counts no more.
      while (!(await advance(id, stateOf(await rows.progress(id)), state)))
        if ((await rows.find(id)) === null) return;
    },
    appendRun: (id, run) =>
      rows.addRuns(id, [{ due: run.due, startedAt: run.startedAt, body: toJson(run) }]),
    runs(id, limit) {
      return runsIn(rows, id, limit);
    },
    shared: {
      clock,
      async states() {
        const found = await rows.allProgress();
        return new Map(found.map(({ id, progress }) => [id, stateOf(progress)]));
      },
      advance: (id, from, to) => advance(id, from, to),
      gateways: () => store.gateways(),
      queues: () => store.queues(),
    },
  };

  async function advance(id: string, from: JobState, to: JobState): Promise<boolean> {
    const isNew = from.settledUntil === 0 && from.askedUntil === 0 && from.run === null;
    if (isNew && from.aheadUntil === undefined && (await rows.advance(id, null, progressOf(to))))
      return true;
    return rows.advance(id, progressOf(from), progressOf(to));
  }
}

export const parsedJob = (body: string): Job | undefined => JobSchema.safeParse(json(body)).data;

const parsedRun = (body: string): JobRun | undefined => JobRunSchema.safeParse(json(body)).data;

/** Newest first; those that nobody understands are left out. */
export const runsIn = async (
  rows: { runs(id: string, limit: number): Promise<readonly { body: string }[]> },
  id: string,
  limit: number,
): Promise<JobRun[]> => (await rows.runs(id, limit)).flatMap(({ body }) => parsedRun(body) ?? []);

export const stateOf = (progress: JobProgress | null): JobState => {
  if (progress === null) return NEW_STATE;
  const { settledUntil, aheadUntil, askedUntil, run } = progress;
  return { v: 1, settledUntil, ...(aheadUntil !== null && { aheadUntil }), askedUntil, run };
};

export const progressOf = ({
  settledUntil,
  aheadUntil,
  askedUntil,
  run,
}: JobState): JobProgress => ({ settledUntil, aheadUntil: aheadUntil ?? null, askedUntil, run });

function json(text: string): unknown {
  try {
    return fromJson(text);
  } catch {
    return undefined;
  }
}
