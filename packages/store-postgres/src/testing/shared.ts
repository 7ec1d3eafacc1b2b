// One PostgreSQL for all test files of a run, started by the first that needs it.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { findPostgres } from "./binaries.ts";
import { createDatabase, NO_POSTGRES } from "./server.ts";

/** For names of tests: that they were skipped says why. */
export const UNLESS_THERE = "(needs PostgreSQL)";

/** Null: tests that need one are skipped, and this is why. */
export const whyNoPostgres = (): string | null => (findPostgres() === null ? NO_POSTGRES : null);

/** Id of the test runner's own process, and when it began; workers inherit it. */
const RUNNER = process.env.CLEW_TEST_RUNNER ?? `${process.pid}`;
const START_MS = 60_000;

let databases = 0;

/** The address of a new, empty database; it is gone when the run is over. */
export async function testDatabase(): Promise<string> {
  const folder = join(tmpdir(), `clew-postgres-${RUNNER}`);
  if (claims(folder)) {
    const keeper = fileURLToPath(new URL("keeper.ts", import.meta.url));
    const node = ["--conditions=@clew/source", "--disable-warning=ExperimentalWarning"];
    spawn(process.execPath, [...node, keeper, folder, String(Number.parseInt(RUNNER, 10))], {
      ...{ detached: true, stdio: "ignore", cwd: "/" },
    }).unref();
  }
  const template = await toldIn(folder);
  const urlOf = (name: string) => template.replace("NAME", name);
  return createDatabase({ urlOf }, `test-${process.pid}-${Date.now()}-${databases++}`);
}

/** True for the first who asks. */
function claims(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o711 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function toldIn(folder: string): Promise<string> {
  const [ready, failed] = [join(folder, "ready"), join(folder, "failed")];
  for (const began = performance.now(); performance.now() - began < START_MS; await after(20)) {
    if (existsSync(ready)) return readFileSync(ready, "utf8");
    if (existsSync(failed)) throw new Error(readFileSync(failed, "utf8"));
  }
  throw new Error(`PostgreSQL did not start within ${START_MS} ms, see ${folder}`);
}
