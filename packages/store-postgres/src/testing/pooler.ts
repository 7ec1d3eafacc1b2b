// Starts a pgbouncer before a PostgreSQL, which gives every transaction another connection.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import pg from "pg";
import { unprivileged } from "./binaries.ts";

/** A pooler that runs. */
export interface TestPooler {
  /** The database's address through it. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Null: tests that need one are skipped. */
export function findPooler(): string | null {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  const found = folders.map((folder) => join(folder, "pgbouncer")).find((file) => existsSync(file));
  return found !== undefined && spawnSync(found, ["--version"]).status === 0 ? found : null;
}

/** Whether the one that is there can be told to keep prepared statements, as 1.21 and newer can. */
export function poolerKeepsNames(): boolean {
  const { stdout } = spawnSync(findPooler() ?? "false", ["--version"], { encoding: "utf8" });
  const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout ?? "") ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
}

/**
 * `connections`: as many as it has to the server, whoever asks. `keepsNames`: of statements, on
 * whichever connection they were prepared.
 */
export async function startPooler(
  database: string,
  {
    folder,
    connections,
    keepsNames = false,
  }: { folder: string; connections: number; keepsNames?: boolean },
): Promise<TestPooler> {
  const program = findPooler();
  if (program === null) throw new Error("there is no pgbouncer here");
  const { pathname, searchParams } = new URL(database);
  const name = pathname.slice(1);
  mkdirSync(folder, { mode: 0o711 });
  const whom = unprivileged();
  if (whom !== undefined) chownSync(folder, whom.uid, whom.gid);
  const settings = {
    ...{ listen_addr: "", unix_socket_dir: folder, listen_port: 5432, auth_type: "any" },
    ...{ pool_mode: "transaction", default_pool_size: connections, max_client_conn: 200 },
    // Whoever finds the server away asks again soon: by default it keeps all waiting for 15 s.
    server_login_retry: 1,
    // Newer ones keep them unless they are told not to.
    ...(poolerKeepsNames() && { max_prepared_statements: keepsNames ? 200 : 0 }),
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}`);
  const file = join(folder, "pooler.ini");
  writeFileSync(
    file,
    `[databases]\n${name} = host=${searchParams.get("host")} user=clew\n[pgbouncer]\n${lines.join("\n")}\n`,
  );
  const child = spawn(program, [file], { cwd: folder, stdio: "ignore", ...whom });
  const ended = once(child, "exit");
  const stop = async () => {
    if (child.exitCode === null) child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const url = new URL(database);
  url.searchParams.set("host", folder);
  for (let attempt = 0; ; attempt++) {
    const client = new pg.Client({ connectionString: url.href });
    try {
      await client.connect();
      await client.end();
      return { url: url.href, stop };
    } catch (error) {
      if (attempt < 100 && child.exitCode === null) {
        await after(50);
        continue;
      }
      await stop();
      throw error;
    }
  }
}
