// Decides from the settings where sessions are.

import { planBlobs } from "../blobs/plan-blobs.ts";
import { type Environment, expandVariables } from "../config/environment.ts";
import type { Config } from "../config/schema.ts";
import { STORAGE_URL_VARIABLE } from "../config/storage.ts";

export type StoragePlan =
  | { kind: "files" }
  | { kind: "postgres"; url: string; connections: number }
  /** One sentence for each. */
  | { kind: "refused"; problems: readonly string[] };

/** Pure. */
export function planStorage(
  config: Config,
  environment: Pick<Environment, "variable">,
): StoragePlan {
  const { driver, connections } = config.storage;
  if (driver === "files") return { kind: "files" };
  const url = urlOf(config, environment);
  const blobs = planBlobs(config, environment);
  const problems = [
    ...(url.problem === undefined ? [] : [url.problem]),
    ...(blobs.kind === "refused" ? blobs.problems : []),
  ];
  return problems.length > 0 || url.url === undefined
    ? { kind: "refused", problems }
    : { kind: "postgres", url: url.url, connections };
}

/** The address of the database; or in a sentence why nobody knows it, which `what` begins. */
export function urlOf(
  { storage: { url } }: Config,
  environment: Pick<Environment, "variable">,
  what = 'storage.driver is "postgres", and',
): { url?: string; problem?: string } {
  const named = url ?? environment.variable(STORAGE_URL_VARIABLE);
  if (named === undefined)
    return {
      problem: `${what} nobody says where it is: set storage.url, or the variable ${STORAGE_URL_VARIABLE}, to postgres://user:password@host/database.`,
    };
  const expanded = expandVariables(named, environment);
  return "text" in expanded
    ? { url: expanded.text }
    : {
        problem: `storage.url names ${expanded.missing.join(" and ")}, which is not set; set it where the gateway is started, for a service in service.env of the home.`,
      };
}
