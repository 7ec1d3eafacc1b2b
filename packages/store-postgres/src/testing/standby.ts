// Starts a PostgreSQL with a standby that has every commit, and lets the standby take over.
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { runSql, startPostgres, type TestServer } from "./server.ts";

export interface Pair {
  readonly primary: TestServer;
  readonly standby: TestServer;
  /** The primary is gone from one moment to the next, and the standby is written to. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/** Commits wait until the standby has them. `folder` does not exist yet. */
export async function startPair(folder: string): Promise<Pair> {
  const settings = {
    ...{ wal_level: "replica", max_wal_senders: "10", hot_standby: "on" },
    // Nobody waits for seconds where a try is enough.
    ...{ wal_retrieve_retry_interval: "50ms" },
    ...{ synchronous_standby_names: "*", synchronous_commit: "local" },
  };
  // Made of the same beginnings, before anybody wrote.
  let beginnings = "";
  const primary = await startPostgres({
    folder: `${folder}-one`,
    settings,
    prepare: (data) => {
      beginnings = `${data}-beginnings`;
      copyFolder(data, beginnings);
    },
  });
  const standby = await startPostgres({
    folder: `${folder}-two`,
    settings: {
      ...{ ...settings, synchronous_standby_names: "" },
      primary_conninfo: `host=${primary.data} user=clew application_name=standby`,
    },
    prepare: (data) => {
      rmSync(data, { recursive: true });
      copyFolder(beginnings, data);
      rmSync(beginnings, { recursive: true });
      writeFileSync(join(data, "standby.signal"), "");
    },
  }).catch(async (error: unknown) => {
    await primary.stop();
    throw error;
  });
  const at = primary.urlOf("postgres");
  const following = "select 1 from pg_stat_replication where sync_state = 'sync'";
  while ((await runSql(at, following)).length === 0) await after(20);
  await runSql(at, "alter role clew set synchronous_commit = 'remote_apply'");
  return {
    ...{ primary, standby },
    async failOver() {
      await primary.stop();
      await runSql(standby.urlOf("postgres"), "select pg_promote()");
    },
    async stop() {
      await primary.stop();
      await standby.stop();
    },
  };
}

/** With owners and modes. */
function copyFolder(from: string, to: string): void {
  const { status, stderr } = spawnSync("cp", ["-a", from, to], { encoding: "utf8" });
  if (status !== 0) throw new Error(`cp failed: ${stderr}`);
}
