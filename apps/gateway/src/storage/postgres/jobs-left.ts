// Tells of jobs in files of a home whose sessions are in a database.
import { createJobFiles } from "../../cron/job-files.ts";
import type { JobStore } from "../../cron/job-store.ts";
import { counted } from "../../text/number.ts";

/**
 * One sentence; undefined: there are none that anybody waits for. `there`: jobs of the database.
 * Absent: it has none yet.
 */
export async function jobsLeftIn(
  home: string,
  there?: Pick<JobStore, "isThere">,
): Promise<string | undefined> {
  const left: string[] = [];
  for (const { id, enabled } of await createJobFiles(home).jobs())
    if (enabled && !((await there?.isThere(id)) ?? false)) left.push(id);
  if (left.length === 0) return undefined;
  const [are, them] = left.length === 1 ? ["is", "it"] : ["are", "them"];
  return `${counted(left.length, "job")} in ${home}/cron (${left.join(", ")}) ${are} not run, as sessions are in PostgreSQL (storage.driver); take ${them} along with "clew storage copy --to postgres", or remove ${them} there`;
}
