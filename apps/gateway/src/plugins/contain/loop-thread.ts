// Asks the system how much of the processor a process's first thread got, and waited for.
import { readFileSync } from "node:fs";

export interface ThreadTimes {
  cpuMs: number;
  /** It would have run, and others did. 0 also where the system does not tell. */
  queuedMs: number;
}

/** Of the event loop's thread, from any thread of the process. Never throws. */
export function loopThreadTimes(): ThreadTimes {
  const times = mainThreadTimes(process.pid);
  if (times !== undefined) return times;
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, queuedMs: 0 };
}

/** Undefined: the system does not tell. Never throws. */
export function mainThreadTimes(pid: number | undefined): ThreadTimes | undefined {
  try {
    // The first thread of a process has its number.
    const times = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "latin1").split(" ");
    const [cpuMs, queuedMs] = times.map((nanoseconds) => Number(nanoseconds) / 1e6);
    if (cpuMs !== undefined && queuedMs !== undefined && cpuMs + queuedMs > 0)
      return { cpuMs, queuedMs };
  } catch {}
  return undefined;
}
