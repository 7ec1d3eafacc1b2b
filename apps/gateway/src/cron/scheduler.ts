// Runs jobs when they are due, each moment once, whatever is killed in between.
import type { ClockPort, LogPort } from "@clew/engine-core";
import type { Job, JobRun, JobState } from "./job.ts";
import type { JobFiles } from "./job-files.ts";
import { planClockMend, planJob } from "./plan-job.ts";

/** How a job's turn went. */
export type JobOutcome = Pick<JobRun, "outcome" | "reason" | "answer">;

export interface SchedulerPorts {
  readonly files: JobFiles;
  readonly clock: Pick<ClockPort, "now">;
  readonly log: LogPort;
  /** Never rejects. */
  readonly run: (job: Job, signal: AbortSignal) => Promise<JobOutcome>;
  /** Longest time between two looks, ms: so soon a new job or another clock is seen. */
  readonly lookMs?: number;
}

export interface Scheduler {
  /** Tells of runs that an earlier process left behind, and begins to look. */
  start(): Promise<void>;
  /** One look: begins what is due. Resolves when that has begun, not when it is over. */
  look(): Promise<void>;
  /** Begins nothing more; what runs gets `graceMs` and is cancelled then. Waits for it. */
  stop(graceMs?: number): Promise<void>;
}

const LOOK_MS = 5_000;

export function createScheduler(ports: SchedulerPorts): Scheduler {
  const { files, clock, log, lookMs = LOOK_MS } = ports;
  const stopping = new AbortController();
  let isStopped = false;
  const running = new Set<Promise<void>>();
  const told = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<number> = Promise.resolve(lookMs);

  const unreadable = (file: string) => {
    if (told.has(file)) return;
    told.add(file);
    log.warn(`${file} holds no job and is passed over; "clew cron add" writes one.`);
  };
  /** How long nothing is due, ms. */
  async function lookNow(): Promise<number> {
    let soonest = lookMs;
    for (const job of await files.jobs(unreadable)) {
      if (isStopped) return lookMs;
      const now = clock.now();
      const state = await stateOf(job, now);
      if (state === undefined) continue;
      const step = planJob(job, state, now);
      if (step.kind === "nothing") continue;
      if (step.kind === "wait") {
        if (step.until !== null) soonest = Math.min(soonest, Math.max(0, step.until - now));
        continue;
      }
      const { due, missed } = step;
      const run = { due, startedAt: now, missed };
      const settled: JobState = { ...state, ...step.settled, run };
      // From here on it is never run again for this moment.
      await files.writeState(job.id, settled);
      if (step.kind === "run") begin(job, settled);
      else await end(job, settled, { outcome: "skipped", reason: lateText(job, now - due) });
    }
    return soonest;
  }
  /** Where it goes on from; undefined when that cannot be read, so that it does not run twice. */
  async function stateOf(job: Job, now: number): Promise<JobState | undefined> {
    try {
      const state = await files.state(job.id);
      const mended = planClockMend(job, state, now);
      if (mended === undefined) return state;
      await files.writeState(job.id, mended);
      log.warn(
        `job ${job.id} was settled by a clock that was far ahead, until ${new Date(mended.aheadUntil!).toISOString()}; it goes on from now`,
      );
      return mended;
    } catch (error) {
      log.error(`job ${job.id} cannot go on now: ${String(error)}`);
      return undefined;
    }
  }
  function begin(job: Job, state: JobState): void {
    const work = ports
      .run(job, stopping.signal)
      .then((outcome) => end(job, state, outcome))
      .catch((error: unknown) => log.error(`job ${job.id}: ${String(error)}`))
      .finally(() => running.delete(work));
    running.add(work);
  }
  async function end(job: Job, { run, ...state }: JobState, outcome: JobOutcome): Promise<void> {
    const { due, startedAt, missed } = run!;
    const done: JobRun = { due, startedAt, endedAt: clock.now(), missed, ...outcome };
    if (done.outcome !== "completed")
      log.warn(`job ${job.id} ${done.outcome}: ${done.reason ?? "it did not say why"}`);
    else log.info(`job ${job.id} completed`);
    // Removed meanwhile: nothing of it is to be there.
    if (!(await files.isThere(job.id))) {
      await files.remove(job.id);
      return;
    }
    await files.appendRun(job.id, done);
    await files.writeState(job.id, { ...state, run: null });
  }
  function arm(ms: number): void {
    clearTimeout(timer);
    if (isStopped) return;
    timer = setTimeout(() => void look(), Math.min(ms, lookMs));
    timer.unref();
  }
  async function look(): Promise<void> {
    looking = looking.then(lookNow).catch((error: unknown) => {
      log.error(`the jobs could not be looked at: ${String(error)}`);
      return lookMs;
    });
    arm(await looking);
  }
  return {
    look,
    async start() {
      for (const job of await files.jobs(unreadable)) {
        const { run, ...state } = await files.state(job.id);
        if (run === null) continue;
        const [newest] = await files.runs(job.id, 1);
        const isTold = newest?.due === run.due && newest.startedAt === run.startedAt;
        if (isTold) await files.writeState(job.id, { ...state, run: null });
        else await end(job, { ...state, run }, { outcome: "interrupted", reason: INTERRUPTED });
      }
      arm(0);
    },
    async stop(graceMs = 0) {
      isStopped = true;
      clearTimeout(timer);
      await looking;
      const cancel = setTimeout(() => stopping.abort(), graceMs);
      await Promise.all(running);
      clearTimeout(cancel);
    },
  };
}

const INTERRUPTED = "the gateway ended while it ran; it is not run again for that moment";

const lateText = ({ maxLateMinutes }: Job, lateMs: number): string =>
  `it was ${Math.round(lateMs / 60_000)} minutes late, and may be at most ${maxLateMinutes}`;
