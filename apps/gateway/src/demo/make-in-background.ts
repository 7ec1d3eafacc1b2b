// Has the demo session made by a process of its own while the gateway runs.
import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import type { LogPort } from "@clew/engine-core";

export interface DemoInBackground {
  /** Ends it if it is not ready; nothing of it stays. */
  stop(): void;
}

/** Nobody waits for it: what goes wrong is logged. */
export function makeDemoInBackground(log: LogPort): DemoInBackground {
  const [script] = process.argv.slice(1);
  if (script === undefined) return { stop: () => {} };
  const args = [...process.execArgv, script, "demo", "make", "--json"];
  const child = spawn(process.execPath, args, { stdio: "ignore" });
  child.unref();
  let isStopped = false;
  child.on("error", ({ message }) => log.warn(`the demo session could not be made: ${message}`));
  child.on("exit", (code) => {
    if (code === 0) log.info("the demo session is made");
    else if (!isStopped) log.warn(`the demo session could not be made: exit code ${code}`);
  });
  if (child.pid !== undefined) yieldToOthers(child.pid);
  return {
    stop() {
      isStopped = true;
      child.kill();
    },
  };
}

/** Whoever talks to the gateway goes first. */
function yieldToOthers(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended, or the system has no priorities.
  }
}
