// Where and when a result was measured.
import { execFileSync } from "node:child_process";
import { cpus, loadavg, totalmem } from "node:os";

export interface Machine {
  cpu: string;
  cores: number;
  memoryGb: number;
  /**
   * Load average over one minute when the bench began; above the number of cores, only
   * ratios are worth reading.
   */
  load: number;
  node: string;
  platform: string;
  /** Null outside a git checkout; ends with "+" when files differ from it. */
  commit: string | null;
  /** ISO 8601. */
  at: string;
}

export function describeMachine(): Machine {
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? "unknown",
    cores: processors.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    load: Math.round(loadavg()[0]! * 100) / 100,
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    commit: commit(),
    at: new Date().toISOString(),
  };
}

function commit(): string | null {
  const git = (...args: string[]) =>
    execFileSync("git", args, {
      cwd: import.meta.dirname,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  try {
    return (
      git("rev-parse", "--short", "HEAD") +
      (git("status", "--porcelain", "--untracked-files=no") === "" ? "" : "+")
    );
  } catch {
    return null;
  }
}
