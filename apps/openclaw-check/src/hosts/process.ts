// Starts programs in a home of their own, and ends only those.
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** What a program finds: the person's own settings of either host are none of it. */
export function variablesFor(home: string, more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const theirs = /^(?:CLEW|OPENCLAW|NODE_OPTIONS|npm_)/;
  const kept = Object.entries(process.env).filter(([name]) => !theirs.test(name));
  return { ...Object.fromEntries(kept), HOME: home, DO_NOT_TRACK: "1", NO_COLOR: "1", ...more };
}

/** For npm, which shall find its registry, its cache and its proxy as ever. */
export const variablesForNpm = (): NodeJS.ProcessEnv => ({ ...process.env, NO_COLOR: "1" });

export interface Ran {
  /** Null: it was ended, and `output` says why. */
  code: number | null;
  output: string;
}

export interface Started {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/** To its end, which on a busy machine is minutes away. `timeoutMs`: absent, ten minutes. */
export async function run(
  command: string,
  args: readonly string[],
  { cwd, env, timeoutMs = 10 * 60_000 }: Started & { timeoutMs?: number },
): Promise<Ran> {
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const timer = setTimeout(() => {
    output += `\nIt did not end within ${timeoutMs / 1000} s.`;
    child.kill("SIGKILL");
  }, timeoutMs);
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (piece) => {
      output += piece;
    });
  const code = await ended(child);
  clearTimeout(timer);
  return { code, output };
}

/** A group of its own; what it prints goes to `log`. */
export function start(
  args: readonly string[],
  { cwd, env, log }: Started & { log: string },
): ChildProcess {
  const child = spawn(process.execPath, args, {
    ...{ cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] },
  });
  const file = createWriteStream(log, { flags: "a" });
  child.stdout?.pipe(file);
  child.stderr?.pipe(file);
  return child;
}

/** Asks it to end, and makes it after a while; what it started goes with it. */
export async function stop(child: ChildProcess): Promise<void> {
  const over = ended(child);
  signal(child, "SIGTERM");
  await Promise.race([over, pause(20_000, undefined, { ref: false })]);
  signal(child, "SIGKILL");
  await over;
}

/** Of a program that comes up; on a busy machine that takes minutes. */
const UP_MS = 15 * 60_000;

/** Waits for what a started program is to do. Throws when it ends, or does not come to it. */
export async function until(
  what: string,
  child: ChildProcess,
  isSo: () => Promise<boolean>,
): Promise<void> {
  const end = Date.now() + UP_MS;
  while (!(await isSo().catch(() => false))) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${what} ended with ${child.exitCode ?? child.signalCode}`);
    if (Date.now() > end) throw new Error(`${what} did not come about within ${UP_MS / 1000} s`);
    await pause(500);
  }
}

function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.on("close", resolve);
  child.on("error", () => resolve(null));
  return promise;
}

function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name);
  } catch {
    // It is over.
  }
}
