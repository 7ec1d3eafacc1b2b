// Checks whether the database can be used that the settings name for sessions.
import type { PostgresFacts } from "@clew/store-postgres";
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import { loadPostgres } from "../storage/open-storage.ts";
import { planStorage } from "../storage/plan-storage.ts";
import type { Finding } from "./finding.ts";

const subject = "storage";

/** Nothing is said of files, which other checks look at. */
export async function checkStorage(
  environment: Environment,
  { config }: Pick<LoadedConfig, "config">,
): Promise<Finding[]> {
  const plan = planStorage(config, environment);
  if (plan.kind === "files") return [];
  if (plan.kind === "refused") return plan.problems.map((text) => unusable(text));
  const { checkPostgres } = await loadPostgres();
  const check = await checkPostgres(plan);
  return check.ok ? judgeFacts(check.facts, plan.connections) : [unusable(check.problem)];
}

/** Pure. */
export function judgeFacts(facts: PostgresFacts, connections: number): Finding[] {
  const { version, database, user, synchronousStandbys: standbys, clockAheadMs } = facts;
  const all = `${connections + 1} of ${facts.connections} connections`;
  const clock = `${Math.abs(clockAheadMs)} ms ${clockAheadMs < 0 ? "behind" : "ahead of"} its clock, on which nothing depends`;
  const found: Finding[] = [
    {
      ...{ level: "ok", code: "storage", subject },
      text: `PostgreSQL ${version}, database "${database}" as "${user}", ${all}; this machine is ${clock}`,
    },
  ];
  if (!facts.flushesCommits)
    found.push(
      lossy(
        `PostgreSQL acknowledges what it has not written to its disk (fsync, or synchronous_commit = ${facts.synchronousCommit}): a power failure loses turns that were answered; set both to on`,
      ),
    );
  else if (standbys === 0)
    found.push({
      ...{ level: "ok", code: "storage", subject },
      text: "no synchronous standby is seen: where the primary's disk is lost, so is what no replicated storage below it has",
    });
  return found;
}

const unusable = (text: string): Finding => ({
  ...{ level: "failure", code: "storage-unusable", subject },
  text,
});

const lossy = (text: string): Finding => ({
  ...{ level: "warning", code: "storage-lossy", subject },
  text,
});
