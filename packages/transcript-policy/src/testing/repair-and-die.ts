// Repairs a session file in a process that dies at one of the steps on disk.
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

const [, , sessionFile = "", dieAt = "0"] = process.argv;
let steps = 0;

/** Dies before or after the step: what a process leaves that is killed between two of them. */
function mayDie(): void {
  steps++;
  if (steps === Number(dieAt)) process.kill(process.pid, "SIGKILL");
}

type Step = (...args: never[]) => Promise<unknown>;

const dying = (step: Step): Step =>
  async function (this: unknown, ...args) {
    mayDie();
    return step.apply(this, args);
  };

const methods = fs as unknown as Record<string, Step>;
for (const name of ["link", "copyFile", "rename", "unlink", "rm", "stat", "open"])
  methods[name] = dying(methods[name]!);
const probe = await fs.open(sessionFile, "r");
const handles = Object.getPrototypeOf(probe) as Record<string, Step>;
await probe.close();
for (const name of ["appendFile", "chmod", "chown", "sync", "close"])
  handles[name] = dying(handles[name]!);
syncBuiltinESMExports();
steps = 0;

const { repairSessionFileIfNeeded } = await import("../session-file.ts");
process.stdout.write(
  JSON.stringify(await repairSessionFileIfNeeded({ sessionFile, keepRemoved: true })),
);
