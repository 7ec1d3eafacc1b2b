import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLocalJobs } from "../jobs/local-jobs.ts";
import { silentLog } from "../log/silent.ts";
import { temporaryHome } from "../testing/home.ts";
import { type Job, NEW_STATE } from "./job.ts";
import { createJobFiles } from "./job-files.ts";
import type { JobStore } from "./job-store.ts";
import { planClockMend, planJob } from "./plan-job.ts";
import { createScheduler, type JobOutcome } from "./scheduler.ts";

const MINUTE = 60_000;
const START = Date.UTC(2026, 2, 28, 12);

const jobOf = (given: Partial<Job> = {}): Job => ({
  ...{ v: 1, id: "j1", session: "agent:main:cron:j1", message: "look", kind: "cron" },
  ...{ schedule: "every 10m", timeZone: "Europe/Berlin", enabled: true },
  ...{ createdAt: START, enabledAt: START, maxLateMinutes: 1440, askedAt: 0 },
  ...given,
});

/** A scheduler in a home, by a clock that is set by hand. */
function schedulerIn(
  home: string,
  clock: { now: number },
  given: Partial<{
    files: JobStore;
    run: (job: Job, signal: AbortSignal) => Promise<JobOutcome>;
  }> = {},
) {
  const ran: number[] = [];
  const run = async (): Promise<JobOutcome> => {
    ran.push(clock.now);
    return { outcome: "completed", answer: "done" };
  };
  const files = given.files ?? createJobFiles(home);
  const scheduler = createScheduler({
    ...{ store: files, jobs: createLocalJobs({ log: silentLog }), log: silentLog },
    ...{ clock: { now: () => clock.now }, lookMs: 3_600_000 },
    run: given.run ?? run,
  });
  return { scheduler, files, ran };
}

describe("the scheduler", () => {
  it("runs a job when it is due, and makes up for what was missed by one run", async () => {
    const home = await temporaryHome();
    const clock = { now: START };
    const first = schedulerIn(home, clock);
    await first.files.write(jobOf());
    await first.scheduler.look();
    expect(first.ran).toEqual([]);
    clock.now = START + 10 * MINUTE;
    await first.scheduler.look();
    await first.scheduler.look();
    await first.scheduler.stop();
    expect(first.ran).toEqual([clock.now]);
    clock.now = START + 45 * MINUTE;
    const second = schedulerIn(home, clock);
    await second.scheduler.start();
    await second.scheduler.look();
    await second.scheduler.stop();
    expect(second.ran).toEqual([clock.now]);
    const [newest, oldest] = await second.files.runs("j1", 5);
    expect(newest).toMatchObject({ due: START + 40 * MINUTE, missed: 2, outcome: "completed" });
    expect(oldest).toMatchObject({ due: START + 10 * MINUTE, missed: 0, answer: "done" });
  });

  it("leaves out what is too late, and tells of it", async () => {
    const home = await temporaryHome();
    const clock = { now: START };
    const { scheduler, files, ran } = schedulerIn(home, clock);
    await files.write(jobOf({ schedule: "0 14 * * *", maxLateMinutes: 30 }));
    clock.now = Date.UTC(2026, 2, 28, 15);
    await scheduler.look();
    await scheduler.stop();
    expect(ran).toEqual([]);
    expect(await files.runs("j1", 5)).toMatchObject([
      { outcome: "skipped", reason: "it was 120 minutes late, and may be at most 30" },
    ]);
  });

  it("does not run a job beside its own earlier run, nor what was removed or paused", async () => {
    const home = await temporaryHome();
    const clock = { now: START + 10 * MINUTE };
    let [begun, release] = [0, (_: JobOutcome) => {}];
    const run = () => {
      begun++;
      return new Promise<JobOutcome>((resolve) => {
        release = resolve;
      });
    };
    const { scheduler, files } = schedulerIn(home, clock, { run });
    await files.write(jobOf());
    await scheduler.look();
    clock.now += 10 * MINUTE;
    await scheduler.look();
    expect(begun).toBe(1);
    await files.write(jobOf({ enabled: false }));
    release({ outcome: "completed" });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await scheduler.look();
    expect(begun).toBe(1);
    await files.write(jobOf({ enabledAt: clock.now }));
    clock.now += 10 * MINUTE;
    await scheduler.look();
    expect(begun).toBe(2);
    await files.remove("j1");
    release({ outcome: "completed" });
    await scheduler.stop();
    expect(await readdir(join(home, "cron"))).toEqual([]);
  });

  it("runs once beside the schedule where a person asked for it, also a paused job", async () => {
    const home = await temporaryHome();
    const clock = { now: START };
    const { scheduler, files, ran } = schedulerIn(home, clock);
    await files.write(jobOf({ enabled: false, askedAt: START - 1 }));
    await scheduler.look();
    await scheduler.look();
    await scheduler.stop();
    expect(ran).toHaveLength(1);
  });

  it("cancels what runs when its grace is over, and says so", async () => {
    const home = await temporaryHome();
    const clock = { now: START + 10 * MINUTE };
    const run = (_: Job, signal: AbortSignal) =>
      new Promise<JobOutcome>((resolve) => {
        signal.addEventListener("abort", () => resolve({ outcome: "aborted", reason: "stopped" }));
      });
    const { scheduler, files } = schedulerIn(home, clock, { run });
    await files.write(jobOf());
    await scheduler.look();
    await scheduler.stop(20);
    expect(await files.runs("j1", 1)).toMatchObject([{ outcome: "aborted", reason: "stopped" }]);
  });

  /** Files of a process that is killed before or after the write of that number. */
  function killedAt(files: JobStore, write: number, isAfter: boolean) {
    let left = write;
    const begun: Promise<void>[] = [];
    let die = () => {};
    const died = new Promise<void>((resolve) => {
      die = resolve;
    });
    // A killed process never comes back from its write.
    const never = () => {
      die();
      return new Promise<never>(() => {});
    };
    const dying =
      <Given extends unknown[]>(work: (...given: Given) => Promise<void>) =>
      async (...given: Given) => {
        left--;
        if (left < 0 || (left === 0 && !isAfter)) return never();
        const done = work(...given);
        begun.push(done);
        await done;
        if (left === 0) return never();
      };
    const mortal = { writeState: dying(files.writeState), appendRun: dying(files.appendRun) };
    /** Resolves when it is killed and nothing that it began is under way. */
    const ended = async (life: Promise<void>) => {
      await Promise.race([life, died]);
      left = -1;
      await Promise.all(begun);
    };
    return { ended, files: { ...files, ...mortal } };
  }

  it("runs no moment twice, and loses none, killed at any write and whatever the clock does", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            write: fc.nat(4),
            isAfter: fc.boolean(),
            minutes: fc.oneof(fc.nat(40), fc.constantFrom(-90, -10, 600)),
          }),
          { minLength: 1, maxLength: 6 },
        ),
        async (lives) => {
          const home = await temporaryHome();
          const clock = { now: START };
          const files = createJobFiles(home);
          await files.write(jobOf());
          const begun: number[] = [];
          const run = async (): Promise<JobOutcome> => {
            begun.push((await files.state("j1")).run!.due);
            return { outcome: "completed" };
          };
          for (const { write, isAfter, minutes } of lives) {
            clock.now = Math.max(START, clock.now + minutes * MINUTE);
            const { ended, files: mortal } = killedAt(files, write, isAfter);
            const { scheduler } = schedulerIn(home, clock, { run, files: mortal });
            await ended(
              scheduler
                .start()
                .then(() => scheduler.look())
                .then(() => scheduler.stop()),
            );
          }
          const last = schedulerIn(home, clock, { run, files });
          clock.now += 3 * 86_400_000;
          await last.scheduler.start();
          await last.scheduler.look();
          await last.scheduler.stop();
          expect(new Set(begun).size).toBe(begun.length);
          expect(await files.state("j1")).toMatchObject({ run: null });
          const told = (await files.runs("j1", 100)).map(({ due }) => due);
          expect(new Set(told).size).toBe(told.length);
          for (const due of begun) expect(told).toContain(due);
        },
      ),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });

  it("goes on at once after a clock that was ahead, by days or years, was put right", async () => {
    const day = 1440 * MINUTE;
    for (const [given, aheadMs] of [
      ...[1, 2, 4, 30, 3_000].map((days) => [{}, days * day] as const),
      [{ createdAt: START + 30 * day, enabledAt: START + 30 * day }, 0],
      [{ enabledAt: START + 30 * day, schedule: "0 */6 * * *" }, 40 * day],
    ] as const) {
      const home = await temporaryHome();
      const clock = { now: START };
      const { scheduler, files, ran } = schedulerIn(home, clock);
      await files.write(jobOf({ schedule: "every 6h", timeZone: "UTC", ...given }));
      await files.writeState("j1", { ...NEW_STATE, settledUntil: aheadMs && START + aheadMs });
      for (let hour = 0; hour <= 72; hour++) {
        clock.now = START + hour * 60 * MINUTE;
        await scheduler.look();
        await expect.poll(async () => (await files.state("j1")).run, { interval: 1 }).toBeNull();
      }
      await scheduler.stop();
      // What is less than two days ahead is believed.
      const silentMs = aheadMs <= 2 * day ? aheadMs : 0;
      expect(ran.length).toBe((3 * day - silentMs) / (day / 4));
    }
  });

  it("runs nothing again when a clock that stood in 1970 is put right", async () => {
    const home = await temporaryHome();
    const clock = { now: START + 10 * MINUTE };
    const files = createJobFiles(home);
    await files.write(jobOf());
    await files.write(jobOf({ id: "once", schedule: `at ${new Date(clock.now).toISOString()}` }));
    const { scheduler, ran } = schedulerIn(home, clock);
    for (const now of [clock.now, 0, clock.now + MINUTE, clock.now + 10 * MINUTE]) {
      clock.now = now;
      await scheduler.look();
      await expect.poll(async () => (await files.state("j1")).run, { interval: 1 }).toBeNull();
    }
    await scheduler.stop();
    expect(ran).toEqual([START + 10 * MINUTE, START + 10 * MINUTE, START + 20 * MINUTE]);
  });

  it("runs a moment that comes once no second time after a clock that was ahead", () => {
    const at = START + 30 * 1440 * MINUTE;
    const job = jobOf({ schedule: `at ${new Date(at).toISOString()}` });
    const mended = planClockMend(job, { ...NEW_STATE, settledUntil: at }, START)!;
    expect(planJob(job, mended, START)).toEqual({ kind: "wait", until: null });
  });

  it("keeps a job whose file cannot be read when its run ends", async () => {
    const home = await temporaryHome();
    const clock = { now: START + 10 * MINUTE };
    const file = join(home, "cron", "j1.job.json");
    const run = async (): Promise<JobOutcome> => {
      await writeFile(file, "{ half");
      return { outcome: "completed" };
    };
    const { scheduler, files } = schedulerIn(home, clock, { run });
    await files.write(jobOf());
    await scheduler.look();
    await scheduler.stop();
    expect(await readFile(file, "utf8")).toBe("{ half");
    expect(await files.runs("j1", 5)).toMatchObject([{ outcome: "completed" }]);
    expect(await files.state("j1")).toMatchObject({ run: null, settledUntil: clock.now });
  });

  it("runs no job of which it cannot read how far it is, and all others", async () => {
    const home = await temporaryHome();
    const clock = { now: START + 10 * MINUTE };
    const { scheduler, files, ran } = schedulerIn(home, clock);
    for (const id of ["j1", "j2"]) await files.write(jobOf({ id }));
    await mkdir(join(home, "cron", "j1.state.json"));
    await scheduler.look();
    await scheduler.stop();
    expect(ran).toHaveLength(1);
    expect(await files.runs("j2", 5)).toHaveLength(1);
  });

  it("finds the newest moment that was missed, however many there were", () => {
    const step = planJob(jobOf({ schedule: "* * * * *" }), NEW_STATE, START + 30 * 1440 * MINUTE);
    expect(step).toMatchObject({ kind: "run", due: START + 30 * 1440 * MINUTE, missed: 1_000 });
  });
});
