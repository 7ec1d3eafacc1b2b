// Tells processes apart by their pid and start time.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * When process `pid` started, as an opaque text that differs between two processes of the same pid;
 * undefined when there is no such process (a zombie counts as none: it runs no more code).
 */
export function processStart(pid: number): string | undefined {
  if (process.platform === "linux") return linuxStart(pid);
  try {
    const started = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return started.trim() || undefined;
  } catch {
    return undefined;
  }
}

let own: string | undefined;
export function ownProcessStart(): string {
  own ??= processStart(process.pid) ?? "unknown";
  return own;
}

// Fields of /proc/<pid>/stat after the command, which is in parentheses and may hold anything:
// state is the 1st, start time the 20th.
function linuxStart(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  return state === "Z" || state === "X" ? undefined : `${bootId()}:${fields[19] ?? ""}`;
}

let boot: string | undefined;
function bootId(): string {
  if (boot === undefined) {
    try {
      boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    } catch {
      boot = "unknown-boot";
    }
  }
  return boot;
}
