// Checks jobs that several gateways run, and how the queue stands by which they do.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { JobQueue, JobStore } from "../cron/job-store.ts";
import { loadPostgres } from "../storage/load-postgres.ts";
import { openStorage } from "../storage/open-storage.ts";
import { planStorage } from "../storage/plan-storage.ts";
import { jobsLeftIn } from "../storage/postgres/jobs-left.ts";
import { counted } from "../text/number.ts";
import { checkEachJob } from "./check-each-job.ts";
import type { Finding } from "./finding.ts";

const subject = "jobs";

/** Longer than a gateway takes to see that another one died, and to go on with its work, ms. */
const LATE_MS = 2 * 60_000;

/** Of a database that cannot be used, nothing is said here. */
export async function checkSharedJobs(
  environment: Environment,
  { config }: Pick<LoadedConfig, "config">,
): Promise<Finding[]> {
  const plan = planStorage(config, environment);
  if (plan.kind !== "postgres") return [];
  const { checkPostgres } = await loadPostgres();
  const check = await checkPostgres({ ...plan, connections: 1, isRead: true });
  if (!check.ok) return [];
  const { schema, version, known } = check.facts.queue;
  // Whoever only looks makes no tables.
  if (version !== known)
    return [
      ...(await checkFiles(environment.home)),
      note(
        version === null
          ? `pg-boss, by which gateways hand out jobs, has no tables in the schema "${schema}" yet; the first gateway that starts makes them`
          : `the tables of pg-boss in the schema "${schema}" are of version ${version}; the first gateway of this version that starts brings them to ${known}`,
      ),
    ];
  const gateways = check.facts.gateways;
  try {
    const { jobs } = await openStorage({ environment, config });
    const queues = (await jobs.shared?.queues()) ?? [];
    return [
      ...(await checkFiles(environment.home, jobs)),
      ...(await checkEachJob(jobs, { gateways, place: "database" })),
      ...judgeQueues(queues, { gateways, schema, version }),
    ];
  } catch (error) {
    if (!ContextEngineError.is(error)) throw error;
    // A start refuses it, too: such as settings without the place of large bodies.
    const text = error.message.replace(/\.$/, "");
    return [{ level: "failure", code: "storage-unusable", subject: "storage", text }];
  }
}

/** Pure. */
export function judgeQueues(
  queues: readonly JobQueue[],
  { gateways, schema, version }: { gateways: number; schema: string; version: number },
): Finding[] {
  const late = queues.filter(({ oldestMs }) => gateways > 0 && oldestMs > LATE_MS);
  const sum = (of: (queue: JobQueue) => number) =>
    queues.reduce((total, queue) => total + of(queue), 0);
  const done = Math.max(...queues.map(({ doneAt }) => doneAt ?? 0), 0);
  const last = done === 0 ? "nothing was done yet" : `last done ${new Date(done).toISOString()}`;
  return [
    {
      ...{ level: "ok", code: "jobs-queue", subject },
      text: `pg-boss (tables of version ${version}, schema "${schema}"): ${sum(({ waiting }) => waiting)} due, ${sum(({ running }) => running)} running, ${sum(({ retrying }) => retrying)} to be tried again; ${last}`,
    },
    ...late.map(({ queue, oldestMs, retrying }): Finding => {
      const minutes = counted(Math.floor(oldestMs / 60_000), "minute");
      const why = retrying > 0 ? "it failed, or its gateways died" : "all gateways are busy";
      return {
        ...{ level: "warning", code: "jobs-queue-late", subject },
        text: `work of the queue "${queue}" has waited for ${minutes}: ${why}; the logs of the gateways tell more`,
      };
    }),
  ];
}

/** What people asked for while sessions were in files. */
async function checkFiles(home: string, there?: JobStore): Promise<Finding[]> {
  const text = await jobsLeftIn(home, there);
  return text === undefined ? [] : [{ level: "warning", code: "jobs-elsewhere", subject, text }];
}

const note = (text: string): Finding => ({ level: "note", code: "jobs-queue", subject, text });
