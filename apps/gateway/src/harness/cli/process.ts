// Runs one program with everything it begins, and ends all of it.
import { spawn } from "node:child_process";
import { visible } from "../../text/visible.ts";
import { GUARD } from "../../tools/guard.ts";
import { createLineReader } from "../lines.ts";

export interface ProcessOptions {
  command: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
  stdin: string;
  /** Whether more is written after that. */
  keepsStdin: boolean;
  onLine(line: string): void;
  /** A line goes on beyond what is taken. */
  onTooLong(bytes: number): void;
  /** All that was written so far, in bytes. */
  onBytes(total: number): void;
}

/** How it ended; what it meant by that its lines say. */
export interface ProcessEnd {
  /** As half a sentence. */
  how: string;
  /** Undefined: it ran. */
  error?: NodeJS.ErrnoException;
  /** Its last lines for people. */
  stderr: readonly string[];
}

export interface CliProcess {
  write(text: string): void;
  endInput(): void;
  /** SIGTERM to its group, and SIGKILL to whoever is still there after a while. */
  stop(): void;
  readonly ended: Promise<ProcessEnd>;
}

/** The program itself takes the place of the script. */
const GUARDED = `${GUARD}
exec "$0" "$@"`;

const KILL_AFTER_MS = 5_000;
/** Whoever got out of the group may hold the pipe open. */
const CLOSE_AFTER_MS = 1_000;
const QUOTED = 200;
const STDERR_LINES = 3;

export function startProcess(options: ProcessOptions): CliProcess {
  const { command, args, cwd, env, stdin, keepsStdin, onLine, onTooLong, onBytes } = options;
  const { promise: ended, resolve } = Promise.withResolvers<ProcessEnd>();
  const child = spawn("/bin/sh", ["-c", GUARDED, command, ...args], {
    // A group of its own, so that what it begins ends with it, and all of it with the gateway.
    ...{ cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe", "pipe"] },
  });
  // Nothing is ever written to it.
  const guard = child.stdio[3];
  guard?.on("error", () => {});
  const stderr: string[] = [];
  let total = 0;
  let isOver = false;
  let killer: ReturnType<typeof setTimeout> | undefined;

  const lines = createLineReader({ onLine, onTooLong });
  const errors = createLineReader({
    onLine(line) {
      stderr.push(visible(line.slice(0, QUOTED)));
      if (stderr.length > STDERR_LINES) stderr.shift();
    },
    onTooLong: () => {},
  });
  child.stdout.on("data", (chunk: Buffer) => {
    if (isOver) return;
    total += chunk.length;
    onBytes(total);
    lines.push(chunk);
  });
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  // What it is told after its end has nobody to read it.
  child.stdin.on("error", () => {});
  const finish = (how: string, error?: NodeJS.ErrnoException) => {
    if (isOver) return;
    lines.end();
    errors.end();
    isOver = true;
    child.stdout.destroy();
    child.stderr.destroy();
    resolve({ how, stderr, ...(error !== undefined && { error }) });
  };
  child.on("error", (error) => {
    if (child.pid === undefined) finish("it could not be run", error);
  });
  child.on("exit", (code, signal) => {
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    // What it left behind ends with it, and so does the guard.
    guard?.destroy();
    child.on("close", () => finish(how));
    setTimeout(() => finish(how), CLOSE_AFTER_MS).unref();
  });
  const kill = (signal: NodeJS.Signals) => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      // Nobody of the group is there any more.
    }
  };
  const stop = () => {
    if (killer !== undefined) return;
    kill("SIGTERM");
    killer = setTimeout(() => kill("SIGKILL"), KILL_AFTER_MS);
    killer.unref();
  };
  child.stdin.write(stdin);
  if (!keepsStdin) child.stdin.end();
  return {
    write: (text) => void child.stdin.write(text),
    endInput: () => void child.stdin.end(),
    ...{ stop, ended },
  };
}
