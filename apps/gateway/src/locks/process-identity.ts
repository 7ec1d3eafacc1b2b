// Tells processes apart by their pid and start time.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

/** Time another program gets to tell a start time, ms; a cold PowerShell takes seconds. */
const ASK_MS = 10_000;

export type ProcessState =
  /** No such process. A zombie counts as none: it runs no more code. */
  | { kind: "gone" }
  /**
   * `started` is an opaque text that differs between two processes of the same pid; null where
   * nobody tells start times.
   */
  | { kind: "runs"; started: string | null };

/** What the operating system is asked. */
export interface System {
  platform: NodeJS.Platform;
  readFile(path: string): string;
  /** What a program prints; rejects when it fails. `env`: default, this process's. */
  run(program: string, args: readonly string[], env?: Record<string, string>): Promise<string>;
}

const THIS_SYSTEM: System = {
  platform: process.platform,
  readFile: (path) => readFileSync(path, "latin1"),
  run: async (program, args, env) => {
    const options = { timeout: ASK_MS, windowsHide: true, ...(env !== undefined && { env }) };
    return (await promisify(execFile)(program, args, options)).stdout;
  },
};

/** `system`: default, this machine's. */
export async function processState(
  pid: number,
  system: Partial<System> = {},
): Promise<ProcessState> {
  const asked = { ...THIS_SYSTEM, ...system };
  if (!exists(pid)) return { kind: "gone" };
  if (asked.platform === "linux") return linuxState(pid, asked);
  if (asked.platform === "win32") return windowsState(pid, asked);
  return unixState(pid, asked);
}

let own: Promise<string | null> | undefined;

/** Null where nobody tells start times. */
export function ownProcessStart(): Promise<string | null> {
  own ??= processState(process.pid).then((state) => (state.kind === "runs" ? state.started : null));
  return own;
}

/**
 * False only when it is certain that the process with this pid and start runs no more: a start
 * time that nobody knows tells nothing.
 */
export async function mayRun(
  { pid, started }: { pid: number; started: string | null },
  system: Partial<System> = {},
): Promise<boolean> {
  const state = await processState(pid, system);
  if (state.kind === "gone") return false;
  return started === null || state.started === null || state.started === started;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Any other code means that it exists and is somebody else's.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Fields of /proc/PID/stat after the command, which is in parentheses and may hold anything. */
function linuxState(pid: number, { readFile }: System): ProcessState {
  let stat: string;
  let boot: string;
  try {
    stat = readFile(`/proc/${pid}/stat`);
    boot = readFile("/proc/sys/kernel/random/boot_id").trim();
  } catch {
    return { kind: "runs", started: null };
  }
  // The state is the 1st of them, the start time the 20th.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (isDead(fields[0])) return { kind: "gone" };
  return { kind: "runs", started: fields[19] === undefined ? null : `${boot}:${fields[19]}` };
}

/** Without these settings `ps` prints the time of the caller's zone in the caller's language. */
const SAME_FOR_ALL = { TZ: "UTC", LC_ALL: "C" };

async function unixState(pid: number, { run }: System): Promise<ProcessState> {
  const args = ["-o", "stat=", "-o", "lstart=", "-p", String(pid)];
  const told = await run("ps", args, SAME_FOR_ALL).catch(() => "");
  const [state, ...start] = told.trim().split(/\s+/);
  if (isDead(state)) return { kind: "gone" };
  return { kind: "runs", started: start.length === 0 ? null : start.join(" ") };
}

async function windowsState(pid: number, { run }: System): Promise<ProcessState> {
  const question = `(Get-Process -Id ${pid}).StartTime.ToUniversalTime().Ticks`;
  const args = ["-NoProfile", "-NonInteractive", "-Command", question];
  const told = (await run("powershell.exe", args).catch(() => "")).trim();
  return { kind: "runs", started: /^\d+$/.test(told) ? told : null };
}

const isDead = (state: string | undefined) => /^[ZX]/.test(state ?? "");
