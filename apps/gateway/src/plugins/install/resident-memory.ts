// Tells how much of the machine's memory a process holds.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** MiB, whatever it is used for; null: it is gone, or the system does not tell. */
export function residentMib(pid: number): number | null {
  try {
    const kib =
      process.platform === "linux"
        ? /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]
        : execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }).trim();
    return kib === undefined || kib === "" ? null : Number(kib) / 1024;
  } catch {
    return null;
  }
}
