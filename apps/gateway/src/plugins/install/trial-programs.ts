// Ends the programs that a plugin began while it was tried.
import { readdirSync, readFileSync } from "node:fs";

/** The variable by which they are known; its value is the folder of the trial. */
export const TRIAL_VARIABLE = "CLEW_TRIAL";

/** Also those that made themselves leaders of a group of their own; where the system tells. */
export function endTrialPrograms(folder: string): void {
  for (const pid of processesOf(folder))
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It is over.
    }
}

function processesOf(folder: string): number[] {
  if (process.platform !== "linux") return [];
  const mark = `${TRIAL_VARIABLE}=${folder}`;
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const variables = readFileSync(`/proc/${name}/environ`, "utf8").split("\0");
      return variables.includes(mark) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
