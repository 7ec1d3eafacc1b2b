// Decides where the jobs are that are to be checked.
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import { createJobFiles } from "../cron/job-files.ts";
import type { GatewayLookup } from "../gateway-client.ts";
import { checkEachJob } from "./check-each-job.ts";
import type { Finding } from "./finding.ts";

export async function checkJobs(
  environment: Environment,
  { config }: Pick<LoadedConfig, "config">,
  lookup: Pick<GatewayLookup, "kind">,
): Promise<Finding[]> {
  // What asks a database is loaded only where there is one.
  if (config.storage.driver === "postgres")
    return (await import("./check-shared-jobs.ts")).checkSharedJobs(environment, { config });
  const gateways = lookup.kind === "none" || lookup.kind === "stranger" ? 0 : 1;
  return checkEachJob(createJobFiles(environment.home), { gateways, place: "home" });
}
