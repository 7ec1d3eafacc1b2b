// Asks the system how much of the processor the event loop's thread got, and waited for.
import { readFileSync } from "node:fs";

export interface ThreadTimes {
  cpuMs: number;
  /** It would have run, and others did. 0 also where the system does not tell. */
  queuedMs: number;
}

/** From any thread of the process. Never throws. */
export function loopThreadTimes(): ThreadTimes {
  try {
    // The first thread of a process has its number.
    const times = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "latin1").split(" ");
    const [cpuMs, queuedMs] = times.map((nanoseconds) => Number(nanoseconds) / 1e6);
    if (cpuMs !== undefined && queuedMs !== undefined && cpuMs + queuedMs > 0)
      return { cpuMs, queuedMs };
  } catch {}
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, queuedMs: 0 };
}
