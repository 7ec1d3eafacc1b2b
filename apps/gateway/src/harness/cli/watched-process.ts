// Runs one process of a program until it is gone, within the bounds of its settings.
import type { CliBackendConfig } from "../../config/harness.ts";
import type { CliBackend, CliEnd, CliEvent } from "./backend.ts";
import { type ProcessEnd, type ProcessOptions, startProcess } from "./process.ts";

export interface WatchOptions {
  backend: Pick<CliBackend, "name" | "parse">;
  config: Pick<
    CliBackendConfig,
    "startSeconds" | "turnSeconds" | "silenceSeconds" | "maxOutputMegabytes"
  >;
  process: Omit<ProcessOptions, "onLine" | "onTooLong" | "onBytes">;
  /** Told of all but how the turn ended. */
  onEvent(event: Exclude<CliEvent, CliEnd>): void;
}

export interface WatchedProcess {
  write(text: string): void;
  /** Its silence is ours until this is called back. */
  waitForUs(): () => void;
  stop(): void;
  readonly ended: Promise<Watched>;
}

/** What was heard of one process. */
export interface Watched {
  ends: readonly CliEnd[];
  /** Why it was stopped by us; null = it was not. */
  stopped: { why: string; kind: "timeout" | "invalid_response" } | null;
  /** Lines that nobody can read; null = there were none. */
  garbage: { count: number; first: string } | null;
  end: ProcessEnd;
}

const MEGABYTE = 1024 * 1024;
const QUOTED = 200;
/** A program that told its end may take so long to go. */
const LEAVE_MS = 5_000;

export function watchProcess({ backend, config, process, onEvent }: WatchOptions): WatchedProcess {
  const { name } = backend;
  const ends: CliEnd[] = [];
  let stopped: Watched["stopped"] = null;
  let garbage: Watched["garbage"] = null;
  let hasSaid = false;
  let waitingForUs = 0;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let leaving: ReturnType<typeof setTimeout> | undefined;

  const stop = (why: string, kind: "timeout" | "invalid_response") => {
    if (ends.length === 0) stopped ??= { why, kind };
    child.stop();
  };
  const start = after(config.startSeconds, () =>
    stop(`${name} said nothing within ${config.startSeconds} s of its start`, "timeout"),
  );
  const whole = after(config.turnSeconds, () =>
    stop(`${name} was not done after ${config.turnSeconds} s`, "timeout"),
  );
  const listen = () => {
    clearTimeout(silence);
    if (!hasSaid || waitingForUs > 0 || ends.length > 0) return;
    silence = after(config.silenceSeconds, () =>
      stop(`${name} said nothing for ${config.silenceSeconds} s in the middle`, "timeout"),
    );
  };
  const take = (event: CliEvent): void => {
    if (event.type === "end") {
      ends.push(event);
      clearTimeout(silence);
      child.endInput();
      leaving ??= setTimeout(child.stop, LEAVE_MS).unref();
    } else onEvent(event);
  };
  const child = startProcess({
    ...process,
    onLine(line) {
      hasSaid = true;
      clearTimeout(start);
      listen();
      const value = objectIn(line);
      if (value !== undefined) for (const event of backend.parse(value)) take(event);
      else {
        const { count, first } = garbage ?? { count: 0, first: line.slice(0, QUOTED) };
        garbage = { count: count + 1, first };
      }
    },
    onTooLong: (bytes) =>
      stop(`${name} sent a line of more than ${bytes} bytes`, "invalid_response"),
    onBytes(bytes) {
      if (bytes > config.maxOutputMegabytes * MEGABYTE)
        stop(`${name} wrote more than ${config.maxOutputMegabytes} MiB`, "invalid_response");
    },
  });
  return {
    ...{ write: child.write, stop: child.stop },
    waitForUs() {
      waitingForUs++;
      listen();
      return () => {
        waitingForUs--;
        listen();
      };
    },
    ended: child.ended.then((end) => {
      for (const timer of [start, whole, silence, leaving]) clearTimeout(timer);
      return { ends, stopped, garbage, end };
    }),
  };
}

const after = (seconds: number, act: () => void) => setTimeout(act, seconds * 1000).unref();

function objectIn(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
