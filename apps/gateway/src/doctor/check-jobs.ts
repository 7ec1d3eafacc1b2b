// Checks whether each job can be read and comes due, and how its last run went.
import type { Job } from "../cron/job.ts";
import { createJobFiles, type JobFiles } from "../cron/job-files.ts";
import { dueAfter, parseSchedule } from "../cron/schedule.ts";
import type { GatewayLookup } from "../gateway-client.ts";
import { printable } from "../terminal/output.ts";
import { counted } from "../text/number.ts";
import type { Finding } from "./finding.ts";

const subject = "jobs";

export async function checkJobs(
  home: string,
  { lookup, now }: { lookup: Pick<GatewayLookup, "kind">; now: number },
): Promise<Finding[]> {
  const files = createJobFiles(home);
  const findings: Finding[] = [];
  const jobs = await files.jobs((file) => {
    const text = `${file} holds no job and is passed over; "clew cron add" writes one`;
    findings.push({ level: "warning", code: "job-unreadable", subject, text });
  });
  for (const job of jobs) findings.push(...(await checkJob(files, job, now)));
  const enabled = jobs.filter((job) => job.enabled);
  if (enabled.length > 0 && (lookup.kind === "none" || lookup.kind === "stranger"))
    findings.push({
      ...{ level: "note", code: "jobs-idle", subject },
      text: `no gateway of this home runs now; ${counted(enabled.length, "job")} ${enabled.length === 1 ? "runs" : "run"} once "clew start" does`,
    });
  if (findings.length === 0 && jobs.length > 0)
    findings.push({
      ...{ level: "ok", code: "jobs", subject },
      text: `${counted(jobs.length, "job")}; "clew cron list" tells when they run`,
    });
  return findings;
}

async function checkJob(files: JobFiles, job: Job, now: number): Promise<Finding[]> {
  const id = printable(job.id);
  const parsed = parseSchedule(job.schedule, job.timeZone);
  if (!parsed.ok) {
    const text = `job ${id} never runs: ${printable(parsed.reason)}; remove it with "clew cron rm ${id}" and add it anew`;
    return [{ level: "warning", code: "job-never-due", subject, text }];
  }
  const isOver = dueAfter(parsed.schedule, now, job.createdAt) === null;
  if (isOver && parsed.schedule.kind !== "at" && job.enabled) {
    const text = `job ${id} never runs: no date fits "${printable(job.schedule)}"`;
    return [{ level: "warning", code: "job-never-due", subject, text }];
  }
  const [last] = await files.runs(job.id, 1);
  if (last === undefined || last.outcome === "completed") return [];
  const text = `the last run of job ${id} was ${last.outcome}: ${printable(last.reason ?? "it did not say why")}; "clew cron history ${id}" tells of more`;
  return [{ level: "warning", code: "job-failed", subject, text }];
}
