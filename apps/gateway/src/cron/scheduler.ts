// Hands out runs of jobs when they are due, each moment once, whatever is killed in between.
import type { ClockPort, LogPort } from "@clew/engine-core";
import { z } from "zod";
import type { Jobs, Work } from "../jobs/jobs.ts";
import { errorText } from "../text/error-text.ts";
import type { Job, JobRun, JobState } from "./job.ts";
import { clockOf, type JobStore } from "./job-store.ts";
import { planClockMend, planJob } from "./plan-job.ts";

/** How a job's turn went. */
export type JobOutcome = Pick<JobRun, "outcome" | "reason" | "answer">;

export interface SchedulerPorts {
  readonly store: JobStore;
  /** Does what was handed out, here or at another gateway. */
  readonly jobs: Jobs;
  readonly clock: Pick<ClockPort, "now">;
  readonly log: LogPort;
  /** `due`: which moment it is for. Rejects where another gateway is to see to it. */
  readonly run: (job: Job, signal: AbortSignal, due: number) => Promise<JobOutcome>;
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

/** Under which runs are handed out. */
const QUEUE = "cron";
const LOOK_MS = 5_000;

/** What is sent of a run. */
const DueSchema = z.object({ job: z.string(), due: z.number() });

/** A run that is under way. */
interface Due {
  job: Job;
  state: JobState;
  run: NonNullable<JobState["run"]>;
}

export function createScheduler(ports: SchedulerPorts): Scheduler {
  const { store, jobs, log, lookMs = LOOK_MS } = ports;
  const { shared } = store;
  const clock = clockOf(store, ports.clock);
  let isStopped = false;
  let isFailing = false;
  let working: Promise<void> | undefined;
  /** By key: what this process hands out to itself. */
  const own = new Map<string, Due>();
  const told = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<number> = Promise.resolve(lookMs);

  const unreadable = (file: string) => {
    if (told.has(file)) return;
    told.add(file);
    log.warn(`${file} holds no job and is passed over; "clew cron add" writes one.`);
  };
  /** What was handed out is done here, too. */
  const work = async (): Promise<void> => {
    working ??= jobs.work(QUEUE, runDue);
    await working.catch((error: unknown) => {
      working = undefined;
      throw error;
    });
  };
  /** How long nothing is due, ms. */
  async function lookNow(): Promise<number> {
    await work();
    let soonest = lookMs;
    const found = await store.jobs(unreadable);
    const states = found.length > 0 ? await shared?.states() : undefined;
    for (const job of found) {
      if (isStopped) return lookMs;
      const now = clock.now();
      const state = await stateOf(job, now, states?.get(job.id));
      if (state === undefined) continue;
      // Whoever handed it out may have died before that, or what worked on it was lost.
      if (shared !== undefined && state.run !== null) await handOut(job, state, state.run);
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
      if (!(await goOn(job.id, state, settled))) continue;
      if (step.kind === "run") await handOut(job, settled, run);
      else
        await end(
          { job, state: settled, run },
          { outcome: "skipped", reason: lateText(job, now - due) },
        );
    }
    return soonest;
  }
  /** False: another gateway did. */
  async function goOn(id: string, from: JobState, to: JobState): Promise<boolean> {
    if (shared !== undefined) return shared.advance(id, from, to);
    await store.writeState(id, to);
    return true;
  }
  /** Where it goes on from; undefined when that cannot be read, so that it does not run twice. */
  async function stateOf(
    job: Job,
    now: number,
    known: JobState | undefined,
  ): Promise<JobState | undefined> {
    try {
      const state = known ?? (await store.state(job.id));
      const mended = planClockMend(job, state, now);
      if (mended === undefined) return state;
      if (!(await goOn(job.id, state, mended))) return undefined;
      log.warn(
        `job ${job.id} was settled by a clock that was far ahead, until ${new Date(mended.aheadUntil!).toISOString()}; it goes on from now`,
      );
      return mended;
    } catch (error) {
      log.error(`job ${job.id} cannot go on now: ${errorText(error)}`);
      return undefined;
    }
  }
  async function handOut(job: Job, state: JobState, run: Due["run"]): Promise<void> {
    const key = `${job.id}/${run.due}`;
    if (shared === undefined) own.set(key, { job, state, run });
    await jobs.send(QUEUE, { key, data: { job: job.id, due: run.due } });
  }
  async function runDue({ key, data }: Work, signal: AbortSignal): Promise<void> {
    const due = own.get(key) ?? (await readDue(data));
    own.delete(key);
    if (due === undefined) return;
    try {
      await end(due, await ports.run(due.job, signal, due.run.due));
    } catch (error) {
      if (shared !== undefined) throw error;
      log.error(`job ${due.job.id}: ${errorText(error)}`);
    }
  }
  /** Undefined: it is over, or the job is gone. */
  async function readDue(data: unknown): Promise<Due | undefined> {
    const { job: id, due } = DueSchema.parse(data);
    const job = (await store.jobs()).find((each) => each.id === id);
    if (job === undefined) return undefined;
    const state = await store.state(id);
    return state.run?.due === due ? { job, state, run: state.run } : undefined;
  }
  async function end({ job, state, run }: Due, outcome: JobOutcome): Promise<void> {
    const { due, startedAt, missed } = run;
    const done: JobRun = { due, startedAt, endedAt: clock.now(), missed, ...outcome };
    if (done.outcome !== "completed")
      log.warn(`job ${job.id} ${done.outcome}: ${done.reason ?? "it did not say why"}`);
    else log.info(`job ${job.id} completed`);
    // Removed meanwhile: nothing of it is to be there.
    if (!(await store.isThere(job.id))) {
      await store.remove(job.id);
      return;
    }
    await store.appendRun(job.id, done);
    await goOn(job.id, state, { ...state, run: null });
  }
  function arm(ms: number): void {
    clearTimeout(timer);
    if (isStopped) return;
    timer = setTimeout(() => void look(), Math.min(ms, lookMs));
    timer.unref();
  }
  async function look(): Promise<void> {
    looking = looking.then(lookNow).then(
      (ms) => {
        isFailing = false;
        return ms;
      },
      (error: unknown) => {
        // Once: a database that is away is told elsewhere, too.
        if (!isFailing) log.error(`the jobs could not be looked at: ${errorText(error)}`);
        isFailing = true;
        return lookMs;
      },
    );
    arm(await looking);
  }
  return {
    look,
    async start() {
      // What another gateway may go on with is not over.
      if (shared === undefined) await tellInterrupted();
      await work();
      arm(0);
    },
    async stop(graceMs = 0) {
      isStopped = true;
      clearTimeout(timer);
      await looking;
      await jobs.stop(graceMs);
    },
  };

  async function tellInterrupted(): Promise<void> {
    for (const job of await store.jobs(unreadable)) {
      const state = await store.state(job.id);
      const { run } = state;
      if (run === null) continue;
      const [newest] = await store.runs(job.id, 1);
      const isTold = newest?.due === run.due && newest.startedAt === run.startedAt;
      if (isTold) await store.writeState(job.id, { ...state, run: null });
      else await end({ job, state, run }, { outcome: "interrupted", reason: INTERRUPTED });
    }
  }
}

const INTERRUPTED = "the gateway ended while it ran; it is not run again for that moment";

const lateText = ({ maxLateMinutes }: Job, lateMs: number): string =>
  `it was ${Math.round(lateMs / 60_000)} minutes late, and may be at most ${maxLateMinutes}`;
