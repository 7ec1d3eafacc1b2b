// Keeps a PostgreSQL running for as long as the test run that asked for it.
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "./server.ts";

const [folder = "", run = ""] = process.argv.slice(2);
const LOOK_EVERY_MS = 250;

function tell(file: string, text: string): void {
  writeFileSync(join(folder, `${file}.new`), text);
  renameSync(join(folder, `${file}.new`), join(folder, file));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

try {
  const server = await startPostgres({ folder: join(folder, "server") });
  tell("ready", server.urlOf("NAME"));
  const end = async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
    process.exit();
  };
  setInterval(() => void (isRunning(Number(run)) || end()), LOOK_EVERY_MS);
} catch (error) {
  tell("failed", String((error as Error).stack));
}
