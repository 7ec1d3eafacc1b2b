// Opens what keeps the sessions of a gateway.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { createJobFiles } from "../cron/job-files.ts";
import { createFileSearch } from "../sessions/search/search-files.ts";
import { createSessionStore } from "../sessions/store.ts";
import { planStorage } from "./plan-storage.ts";
import type { Storage, StorageRequest } from "./storage.ts";

export function fileStorage(home: string): Storage {
  const sessions = createSessionStore({ home });
  return {
    ...{ sessions, search: createFileSearch(sessions), records: home },
    jobs: createJobFiles(home),
  };
}

/** Throws CONFIG_INVALID and STORAGE_FAILED, each with what can be done. */
export async function openStorage(request: StorageRequest): Promise<Storage> {
  const { environment, config } = request;
  if (config.storage.driver === "files") return fileStorage(environment.home);
  const plan = requirePlan(request);
  const { openInPostgres } = await import("./postgres/open.ts");
  return openInPostgres(plan, request);
}

/** Where nobody opened one. Throws HOST_CAPABILITY_MISSING for what has to be opened. */
export function storageAlone({
  environment,
  config,
}: Pick<StorageRequest, "environment" | "config">): Storage {
  if (config.storage.driver === "files") return fileStorage(environment.home);
  throw new ContextEngineError(
    "HOST_CAPABILITY_MISSING",
    "Sessions are in PostgreSQL (storage.driver), where they are written by a gateway that runs; start it with: clew start",
  );
}

/** Where the database is. Throws CONFIG_INVALID. */
export function requirePlan({
  environment,
  config,
}: Pick<StorageRequest, "environment" | "config">): { url: string; connections: number } {
  const plan = planStorage(config, environment);
  if (plan.kind === "postgres") return plan;
  const problems = plan.kind === "refused" ? plan.problems : ["Sessions are in files."];
  throw new ContextEngineError("CONFIG_INVALID", problems.join(" "));
}
