// Ends a process when the one that started it is gone.
import { Worker } from "node:worker_threads";

/** Also where nothing else in this process gets to run. */
export function dieWithParent(parent: number): void {
  const code = `setInterval(() => {
    if (process.ppid !== ${parent}) process.kill(process.pid, "SIGKILL");
  }, 1000);`;
  new Worker(code, { eval: true }).unref();
}
