// Runs a command line in a process group of its own, of which nothing goes on.
import { type ChildProcess, spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { number } from "../text/number.ts";
import { GUARD } from "./guard.ts";

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

const SHELL = "/bin/sh";

/** Both outputs of the command are one pipe, so that they come in order. */
const GUARDED = `${GUARD}
exec ${SHELL} -c "$1" 2>&1`;

/** Rejects with the signal's reason when it is stopped, after everything it began was ended. */
export function runCommand(
  command: string,
  { cwd, env, timeoutMs, signal }: CommandOptions,
): Promise<CommandRun> {
  signal.throwIfAborted();
  const child = spawn(SHELL, ["-c", GUARDED, SHELL, command], {
    ...{ cwd, detached: true, env: { ...env } },
    stdio: ["ignore", "pipe", "ignore", "pipe"],
  });
  const printed = createEnds();
  let timedOutAfterMs: number | null = null;
  const timers: NodeJS.Timeout[] = [];
  const later = (ms: number, then: () => void) => timers.push(setTimeout(then, ms));
  const end = () => {
    endGroup(child, "SIGTERM");
    later(GRACE_MS, () => endGroup(child, "SIGKILL"));
  };
  const run = new Promise<CommandRun>((resolve, reject) => {
    child.once("error", reject);
    // A process that could not be given pipes has none.
    const guard = child.stdio[3];
    // Nothing is ever written to it; that it breaks is how it ends.
    guard?.on("error", () => {});
    child.stdout?.on("data", printed.add);
    child.once("exit", () => {
      // What it left in the background ends with it, and so does the guard.
      endGroup(child, "SIGKILL");
      guard?.destroy();
      later(LINGER_MS, () => child.stdout?.destroy());
    });
    child.once("close", (exitCode, endedBy) => {
      if (signal.aborted) reject(signal.reason as Error);
      else resolve({ exitCode, endedBy, timedOutAfterMs, ...printed.told() });
    });
  });
  later(timeoutMs, () => {
    timedOutAfterMs = timeoutMs;
    end();
  });
  signal.addEventListener("abort", end, { once: true });
  return run.finally(() => {
    // A late signal could meet a group that got the number of this one.
    for (const timer of timers) clearTimeout(timer);
    signal.removeEventListener("abort", end);
  });
}

/** Nothing is left of it: then there is nobody to end. */
function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
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
      const output =
        cutBytes === 0
          ? Buffer.concat([head, tail]).toString("utf8")
          : `${wholeStart(head)}\n…\n${wholeEnd(tail)}`;
      return { output: stripVTControlCharacters(output), cutBytes };
    },
  };
}

/** Without the character that the cut went through. */
const wholeStart = (bytes: Buffer): string => new TextDecoder().decode(bytes, { stream: true });

function wholeEnd(bytes: Buffer): string {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.subarray(start).toString("utf8");
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
