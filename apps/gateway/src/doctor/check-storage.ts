// Checks whether the database can be used that the settings name for sessions.
import type { PostgresFacts } from "@clew/store-postgres";
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import { loadPostgres } from "../storage/load-postgres.ts";
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
  const check = await checkPostgres({ ...plan, triesRoom: true });
  const { facts } = check;
  return [
    ...(check.ok ? [] : [unusable(check.problem)]),
    ...(facts === undefined ? [] : judgeFacts(facts, plan.connections)),
  ];
}

/** Pure. */
export function judgeFacts(facts: PostgresFacts, connections: number): Finding[] {
  const { version, database, user, clockAheadMs, ownConnections } = facts;
  const all = `${connections + ownConnections} of ${facts.connections} connections, of which ${facts.connectionsUsed} are taken now`;
  const clock = `${Math.abs(clockAheadMs)} ms ${clockAheadMs < 0 ? "behind" : "ahead of"} its clock, on which nothing depends`;
  const found: Finding[] = [
    {
      ...{ level: "ok", code: "storage", subject },
      text: `PostgreSQL ${version}, database "${database}" as "${user}", ${all}; this machine is ${clock}`,
    },
    ...judgeRoom(facts),
    ...judgeCommits(facts),
    ...judgeLimits(facts, connections),
  ];
  if (!facts.hasTrigrams)
    found.push({
      ...{ level: "warning", code: "storage-search", subject },
      text: `clew sessions search finds words at once, and any other text by looking through messages one by one, as pg_trgm cannot be had in the database "${database}"; install PostgreSQL's contrib modules, or as its owner run: create extension pg_trgm`,
    });
  return found;
}

const judgeRoom = ({ hasRoom, database }: PostgresFacts): Finding[] =>
  hasRoom === false
    ? [
        unusable(
          `PostgreSQL has no room left on the disk of the database "${database}": turns fail with STORAGE_FAILED; free some there, and they go on without a restart`,
        ),
      ]
    : [];

/** Whether what was acknowledged may be lost. */
function judgeCommits(facts: PostgresFacts): Finding[] {
  const { synchronousCommit, synchronousStandbys: standbys, standbyNames } = facts;
  const found: Finding[] = [];
  if (!facts.flushesCommits)
    found.push(
      lossy(
        "PostgreSQL never makes sure that what it acknowledges is on its disk (fsync = off): a power failure loses turns that were answered, and may damage all of the database; set fsync to on",
      ),
    );
  if (synchronousCommit === "off")
    found.push(
      lossy(
        `PostgreSQL acknowledges to this user what it has not written to its disk yet (synchronous_commit = off): a power failure loses turns that were answered; set it to on (alter role "${facts.user}" set synchronous_commit = on)`,
      ),
    );
  if (!facts.mendsPages)
    found.push(
      lossy(
        "PostgreSQL does not mend pages that were half written (full_page_writes = off): a power failure may damage any session; set it to on, unless the file system below writes pages whole",
      ),
    );
  if (found.length > 0) return found;
  if (standbyNames !== "" && synchronousCommit === "local")
    found.push(
      lossy(
        `PostgreSQL has synchronous standbys (${standbyNames}), and this user does not wait for them (synchronous_commit = local): a failover loses turns that were answered; set it to on`,
      ),
    );
  else if (standbyNames === "" && standbys === 0)
    found.push({
      ...{ level: "ok", code: "storage", subject },
      text: "no synchronous standby is named (synchronous_standby_names): where the primary's disk is lost, so is what no replicated storage below it has",
    });
  return found;
}

/** Whether there is enough for all gateways, which are taken to have the same settings. */
function judgeLimits(facts: PostgresFacts, connections: number): Finding[] {
  const found: Finding[] = [];
  const { gateways, statementTimeoutMs } = facts;
  const wanted = gateways * (connections + facts.ownConnections);
  if (wanted > facts.connections)
    found.push(
      scarce(
        `${gateways} gateways live, and take up to ${wanted} connections, of which there are ${facts.connections}: lower storage.connections, ${facts.connectionsAdvice}, or put a pooler between`,
      ),
    );
  else if (
    gateways === 0 &&
    facts.connections - facts.connectionsUsed < connections + facts.ownConnections
  )
    found.push(
      scarce(
        `${facts.connectionsUsed} of ${facts.connections} connections are taken, and a gateway takes ${connections + facts.ownConnections}: end others, lower storage.connections, or ${facts.connectionsAdvice}`,
      ),
    );
  if (statementTimeoutMs > 0 && statementTimeoutMs < SHORTEST_MS)
    found.push(
      scarce(
        `statement_timeout is ${statementTimeoutMs} ms for this user: a step that takes longer on a busy day ends its turn; give it ${SHORTEST_MS} ms at least (alter role "${facts.user}" set statement_timeout = 0)`,
      ),
    );
  return found;
}

/** Whoever waits for no longer gives up what would have been done. */
const SHORTEST_MS = 5000;

const unusable = (text: string): Finding => ({
  ...{ level: "failure", code: "storage-unusable", subject },
  text,
});

const scarce = (text: string): Finding => ({
  ...{ level: "warning", code: "storage-limits", subject },
  text,
});

const lossy = (text: string): Finding => ({
  ...{ level: "warning", code: "storage-lossy", subject },
  text,
});
