// Which numbers mean the gateway where a signal is sent.
import { readFileSync } from "node:fs";

/** What a plugin may not signal, besides everybody. */
export interface GuardedPids {
  pid: number;
  /** Of the processes that a terminal signals together. Undefined: the system does not tell. */
  group: number | undefined;
}

/** `pid`: the gateway's, in whose group this process is. */
export function guardedPids(pid: number): GuardedPids {
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    // The 3rd after the command, which is in parentheses and may hold anything.
    const group = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
    return { pid, group: Number.isInteger(group) && group > 0 ? group : undefined };
  } catch {
    return { pid, group: undefined };
  }
}

/** Pure. `target`: as `process.kill` takes it. */
export function reachesGateway(target: unknown, { pid, group }: GuardedPids): boolean {
  // It could be another number each time that it is asked.
  if (typeof target === "object" && target !== null) return true;
  const number = Math.trunc(Number(target));
  if (number === pid || number === -pid || number === 0 || number === -1) return true;
  return group !== undefined && number === -group;
}
