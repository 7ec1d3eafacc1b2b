// Runs a command line in a process group of its own, within bounds of time and output.
import { spawn } from "node:child_process";
import { number } from "../text/number.ts";

/** How a command is run. */
export interface CommandOptions {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Then it and what it began are ended, ms. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** What became of a command. */
export interface CommandRun {
  /** Null: it was ended by a signal. */
  exitCode: number | null;
  /** Name of the signal that ended it. */
  endedBy: string | null;
  /** Set when its time was over, ms. */
  timedOutAfterMs: number | null;
  /** What it printed, in the order in which it came; the middle of much is left out. */
  output: string;
  /** Bytes that are left out. */
  cutBytes: number;
}

/** Of what is printed, bytes of each end. */
const END_BYTES = 8 * 1024;
/** Between asking a process to end and ending it. */
const GRACE_MS = 1_000;
/** What it left in the background may hold its output open. */
const LINGER_MS = 250;

/** Rejects with the signal's reason when it is stopped, after everything it began was ended. */
export function runCommand(
  command: string,
  { cwd, env, timeoutMs, signal }: CommandOptions,
): Promise<CommandRun> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", command], {
      ...{ cwd, detached: true, env: { ...env } },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const printed = createEnds();
    child.stdout.on("data", printed.add);
    child.stderr.on("data", printed.add);
    let timedOutAfterMs: number | null = null;
    const end = () => {
      endGroup(child.pid, "SIGTERM");
      setTimeout(() => endGroup(child.pid, "SIGKILL"), GRACE_MS).unref();
    };
    const timer = setTimeout(() => {
      timedOutAfterMs = timeoutMs;
      end();
    }, timeoutMs);
    signal.addEventListener("abort", end, { once: true });
    const settle = (exitCode: number | null, endedBy: string | null) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      // What it left in the background ends with it.
      endGroup(child.pid, "SIGKILL");
      child.stdout.destroy();
      child.stderr.destroy();
      if (signal.aborted) reject(signal.reason as Error);
      else resolve({ exitCode, endedBy, timedOutAfterMs, ...printed.told() });
    };
    child.once("error", (error) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      reject(error);
    });
    child.once("exit", (exitCode, endedBy) => {
      const closed = new Promise<void>((done) => child.once("close", () => done()));
      const lingered = new Promise<void>((done) => setTimeout(done, LINGER_MS));
      void Promise.race([closed, lingered]).then(() => settle(exitCode, endedBy));
    });
  });
}

/** Nothing is left of it: then there is nobody to end. */
function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It is over.
  }
}

/** Keeps the first and the last of what comes. */
function createEnds() {
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let total = 0;
  return {
    add(piece: Buffer) {
      total += piece.length;
      const room = END_BYTES - head.length;
      head = Buffer.concat([head, piece.subarray(0, Math.max(0, room))]);
      const rest = piece.subarray(Math.max(0, room));
      tail = Buffer.concat([tail, rest]).subarray(-END_BYTES);
    },
    told() {
      const cutBytes = total - head.length - tail.length;
      const [first, last] = [head.toString("utf8"), tail.toString("utf8")];
      const output =
        cutBytes === 0 ? Buffer.concat([head, tail]).toString("utf8") : `${first}\n…\n${last}`;
      return { output, cutBytes };
    },
  };
}

/** Pure. What a model is told of it. */
export function describeRun({
  exitCode,
  endedBy,
  timedOutAfterMs,
  output,
  cutBytes,
}: CommandRun): string {
  const how =
    timedOutAfterMs !== null
      ? `ended, as it ran for more than ${number(timedOutAfterMs)} ms`
      : endedBy !== null
        ? `ended by ${endedBy}`
        : `exit code ${exitCode}`;
  const cut = cutBytes === 0 ? "" : `; ${number(cutBytes)} bytes in the middle are left out`;
  return `${output.trimEnd() || "(it printed nothing)"}\n[${how}${cut}]`;
}
