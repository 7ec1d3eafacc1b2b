// Runs jobs in a process of its own, by a clock on which a minute takes 20 ms.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createJobFiles } from "../cron/job-files.ts";
import { createScheduler } from "../cron/scheduler.ts";
import { createLocalJobs } from "../jobs/local-jobs.ts";
import { silentLog } from "../log/silent.ts";

const [home, startedAt] = process.argv.slice(2) as [string, string];
const SPEED = 3_000;
const files = createJobFiles(home);
const scheduler = createScheduler({
  ...{ store: files, jobs: createLocalJobs({ log: silentLog }), log: silentLog, lookMs: 10 },
  clock: { now: () => Number(startedAt) + (Date.now() - Number(startedAt)) * SPEED },
  async run({ id }) {
    const { run } = await files.state(id);
    appendFileSync(join(home, "ran"), `${run!.due}\n`);
    await sleep(5);
    return { outcome: "completed" };
  },
});
await scheduler.start();
process.stdout.write("started\n");
process.stdin.resume();
process.stdin.on("end", () => void scheduler.stop().then(() => process.exit(0)));
