// Checks whether each job can be read and comes due, and how its last run went.
import type { Job } from "../cron/job.ts";
import { clockOf, type JobStore } from "../cron/job-store.ts";
import { planClockMend, planJob } from "../cron/plan-job.ts";
import { dueAfter, parseSchedule } from "../cron/schedule.ts";
import { printable } from "../terminal/output.ts";
import { counted } from "../text/number.ts";
import type { Finding } from "./finding.ts";

const subject = "jobs";

/** Longer than any gateway looks at something else, ms. */
const LATE_MS = 60_000;

export async function checkEachJob(
  store: JobStore,
  { gateways, place }: { gateways: number; place: "home" | "database" },
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const jobs = await store.jobs((what) => {
    const text = `${what} holds no job and is passed over; "clew cron add" writes one`;
    findings.push({ level: "warning", code: "job-unreadable", subject, text });
  });
  const now = clockOf(store, Date).now();
  for (const job of jobs) findings.push(...(await checkJob(store, job, { now, gateways })));
  const enabled = jobs.filter((job) => job.enabled);
  if (enabled.length > 0 && gateways === 0)
    findings.push({
      ...{ level: "note", code: "jobs-idle", subject },
      text: `no gateway of this ${place} runs now; ${counted(enabled.length, "job")} ${enabled.length === 1 ? "runs" : "run"} once "clew start" does`,
    });
  if (findings.length === 0 && jobs.length > 0)
    findings.push({
      ...{ level: "ok", code: "jobs", subject },
      text: `${counted(jobs.length, "job")}; "clew cron list" tells when they run`,
    });
  return findings;
}

async function checkJob(
  store: JobStore,
  job: Job,
  { now, gateways }: { now: number; gateways: number },
): Promise<Finding[]> {
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
  const late = gateways === 0 ? [] : await checkLate(store, job, now);
  const [last] = await store.runs(job.id, 1);
  if (last === undefined || last.outcome === "completed") return late;
  const text = `the last run of job ${id} was ${last.outcome}: ${printable(last.reason ?? "it did not say why")}; "clew cron history ${id}" tells of more`;
  return [...late, { level: "warning", code: "job-failed", subject, text }];
}

/** Nothing where a gateway has begun it, or is just about to. */
async function checkLate(store: JobStore, job: Job, now: number): Promise<Finding[]> {
  const known = await store.state(job.id);
  const step = planJob(job, planClockMend(job, known, now) ?? known, now);
  if ((step.kind !== "run" && step.kind !== "skip") || now - step.due < LATE_MS) return [];
  const minutes = counted(Math.floor((now - step.due) / LATE_MS), "minute");
  const text = `job ${printable(job.id)} has been due for ${minutes}, and no gateway has begun it; the log of a gateway tells why`;
  return [{ level: "warning", code: "job-late", subject, text }];
}
